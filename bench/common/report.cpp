#include <krylith/bench/common/report.hpp>

#include <cstdio>
#include <fstream>

#include <krylith/bench/common/compiled_with.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

report::report(std::string program, std::string path) : path_(std::move(path)) {
    const build_facts build = compiled_with();
    all_["program"] = std::move(program);
    all_["build"] = {{"krylith", build.library},
                     {"compiler", build.compiler},
                     {"flags", build.flags},
                     {"cuda", build.cuda}};
    all_["rows"] = json::array();
    all_["skipped"] = json::array();
    write();
}

void report::describe_devices(const device_choice& choice) {
    const device_group all = choice.group(choice.counts.back());
    all_["machine"] = {{"backend", to_string(choice.kind)},
                       {"devices", descriptions(all)},
                       {"concurrent", all.concurrent()},
                       {"serialised_because", all.serialised_because()}};
}

void report::describe_machine(const device_choice& choice, const memory_rate& rate) {
    describe_devices(choice);
    all_["machine"].update({{"copy_gb_per_s", rate.copy * 1e-9},
                            {"limit_gb_per_s", rate.limit * 1e-9},
                            {"rates_are_of", rate.shared ? "all devices" : "one device"}});
}

void report::describe_effort(const slope_effort& effort) {
    all_["effort"] = {{"few", effort.few},           {"many", effort.many},
                      {"least", effort.repetitions}, {"most", effort.most},
                      {"seconds", effort.seconds},   {"warm_up", effort.warm_up}};
}

void report::describe_rates(int devices, const known_rates& known) {
    all_["rates"][std::to_string(devices)] = {{"from", known.from},
                                              {"copy_gb_per_s", known.rates.copy * 1e-9},
                                              {"product_gb_per_s", known.rates.product * 1e-9},
                                              {"stores_gb_per_s", known.rates.stores * 1e-9},
                                              {"engines_gb_per_s", known.rates.engines * 1e-9},
                                              {"phase_us", known.rates.phase_on(devices) * 1e6}};
}

void report::set_option(const std::string& name, json value) {
    all_["options"][name] = std::move(value);
}

void report::add(json row) {
    any_void_ = any_void_ || !row.at("void_because").empty();
    all_["rows"].push_back(std::move(row));
    write();
}

void report::skip(const std::string& what, const std::string& why) {
    std::fprintf(stderr, "skipped %s: %s\n", what.c_str(), why.c_str());
    all_["skipped"].push_back({{"what", what}, {"why", why}});
    write();
}

void report::refuse(const std::string& what, const std::string& why) {
    any_refused_ = true;
    skip(what, why);
}

void report::summarise(json summary) {
    all_["summary"] = std::move(summary);
    write();
}

void report::write() const {
    if (path_.empty()) {
        return;
    }
    std::ofstream file(path_);
    file << all_.dump(2) << '\n';
    file.close();
    if (!file) {
        throw usage_error("can't write the report to '" + path_ + "'");
    }
}

json to_json(const spread& s, double unit) {
    return {{"median", s.median * unit},
            {"p10", s.p10 * unit},
            {"p90", s.p90 * unit},
            {"samples", s.samples}};
}

} // namespace krylith::bench
