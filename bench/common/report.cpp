#include <krylith/bench/common/report.hpp>

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <krylith/bench/common/compiled_with.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

report::report(std::string benchmark, std::string path) : path_(std::move(path)) {
    all_["benchmark"] = std::move(benchmark);
    all_["build"] = build_facts_json();
    all_["rows"] = json::array();
    all_["skipped"] = json::array();
    write();
}

void report::say(std::string_view text) const {
    std::FILE* const out = path_ == "-" ? stderr : stdout;
    tool::print(out, text);
    (void)std::fflush(out); // finish_console() reports a failure
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
    if (!rate.known()) {
        return;
    }
    all_["machine"].update({{"copy_gb_per_s", rate.copy * 1e-9},
                            {"limit_gb_per_s", rate.limit * 1e-9},
                            {"rates_are_of", rate.shared ? "all devices" : "one device"}});
}

void report::describe_effort(const slope_effort& effort) {
    all_["effort"] = {{"warm_up", effort.warm_up},   {"iterations", effort.iterations},
                      {"least", effort.repetitions}, {"most", effort.most},
                      {"seconds", effort.seconds},   {"warm_up_seconds", effort.warm_up_seconds}};
}

void report::describe_rates(int devices, const machine_rates& rates) {
    all_["rates"][std::to_string(devices)] = {{"copy_gb_per_s", rates.copy * 1e-9},
                                              {"product_gb_per_s", rates.product * 1e-9},
                                              {"stores_gb_per_s", rates.stores * 1e-9},
                                              {"engines_gb_per_s", rates.engines * 1e-9},
                                              {"phase_us", rates.phase_on(devices) * 1e6}};
}

void report::set_option(const std::string& name, json value) {
    all_["options"][name] = std::move(value);
}

void report::add(json row) {
    any_void_ = any_void_ || is_void(row);
    all_["rows"].push_back(std::move(row));
    write();
}

void report::skip(const std::string& what, const std::string& why) {
    tool::print(stderr, "skipped " + tool::one_line(what) + ": " + tool::one_line(why) + "\n");
    all_["skipped"].push_back({{"what", what}, {"why", why}});
    write();
}

void report::refuse(const std::string& what, const std::string& why) {
    refused_ += (refused_.empty() ? "" : "; ") + why;
    all_["skipped"].push_back({{"what", what}, {"why", why}});
    write();
}

void report::summarise(json summary) {
    all_["summary"] = std::move(summary);
    write();
}

bool report::finish() const {
    if (any_void_) {
        say("\nRows marked VOID failed a check: their times mean nothing.\n");
    }
    if (path_ == "-") {
        tool::write_text(path_, all_.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    }
    if (!refused_.empty()) {
        throw input_error(refused_);
    }
    return !any_void_;
}

void report::write() const {
    if (!path_.empty() && path_ != "-") {
        tool::write_text(path_, all_.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    }
}

json build_facts_json() {
    const build_facts build = compiled_with();
    return {{"krylith", build.library},
            {"compiler", build.compiler},
            {"flags", build.flags},
            {"cuda", build.cuda}};
}

bool is_void(const json& row) {
    return !row.at("void_because").empty();
}

std::string cell(const json& row, const char* key, const char* form, double unit) {
    return row.contains(key) && !row[key].is_null()
               ? fmt::format(fmt::runtime(form), row[key].get<double>() * unit)
               : std::string("-");
}

json to_json(const spread& s, double unit) {
    return {{"median", s.median * unit},
            {"p10", s.p10 * unit},
            {"p90", s.p90 * unit},
            {"samples", s.samples}};
}

} // namespace krylith::bench
