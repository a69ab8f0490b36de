#include <krylith/bench/spmv/spmv_summary.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <krylith/bench/common/geometric_mean.hpp>

namespace krylith::bench {

namespace {

/// The means of an operator on so many devices.
struct means {
    std::string asked;
    int devices = 0;
    geometric_mean over_one{};
    geometric_mean over_cusparse{};
};

double number(const json& row, const char* key) {
    return row.at(key).get<double>();
}

} // namespace

void spmv_summary::add(const json& row) {
    if (row.at("void_because").empty() && row.at("devices").get<int>() > 1 &&
        row.contains("speedup")) {
        rows_.push_back(row);
    }
}

json spmv_summary::as_json() const {
    std::vector<means> all; // in the order of the operators in the request
    json forbidden = json::array();
    for (const json& row : rows_) {
        const std::string asked = row.at("asked");
        const int devices = row.at("devices").get<int>();
        auto found = std::ranges::find_if(
            all, [&](const means& m) { return m.asked == asked && m.devices == devices; });
        if (found == all.end()) {
            found = all.insert(all.end(), {asked, devices});
        }
        found->over_one.add(number(row, "speedup"));
        if (row.contains("speedup_over_cusparse")) {
            found->over_cusparse.add(number(row, "speedup_over_cusparse"));
        }
        if (!row.contains("fraction_of_limit") || devices <= target_ || asked == "auto") {
            continue;
        }
        const double most = number(row, "speedup") / number(row, "fraction_of_limit");
        if (most < target_) {
            const bool by_transfer = number(row, "transfer_us") > number(row, "compute_us");
            forbidden.push_back({{"matrix", row.at("matrix")},
                                 {"devices", devices},
                                 {"operator", row.at("operator")},
                                 {"format", row.at("format")},
                                 {"most_speedup", most},
                                 {"speedup", row.at("speedup")},
                                 {"because", by_transfer ? "transfer" : "compute"}});
        }
    }
    json speedups = json::array();
    std::ranges::stable_sort(all, {}, &means::devices);
    for (const means& m : all) {
        json entry = {{"operator", m.asked},
                      {"devices", m.devices},
                      {"cases", m.over_one.count},
                      {"speedup", m.over_one.value()}};
        if (m.over_cusparse.count > 0) {
            entry["speedup_over_cusparse"] = m.over_cusparse.value();
        }
        speedups.push_back(std::move(entry));
    }
    return {{"target", target_}, {"speedups", speedups}, {"forbidden", forbidden}};
}

std::string spmv_summary::in_words(const json& summary) {
    if (summary.at("speedups").empty()) {
        return "";
    }
    std::string text = fmt::format("\nGeometric means of speedups over one device\n"
                                   "{:<9} {:>2} {:>6} {:>18} {:>14}\n",
                                   "operator", "p", "cases", "over the fastest", "over cuSPARSE");
    for (const json& s : summary.at("speedups")) {
        text +=
            fmt::format("{:<9} {:>2} {:>6} {:>18.2f} {:>14}\n", s.at("operator").get<std::string>(),
                        s.at("devices").get<int>(), s.at("cases").get<int>(), number(s, "speedup"),
                        s.contains("speedup_over_cusparse")
                            ? fmt::format("{:.2f}", number(s, "speedup_over_cusparse"))
                            : "-");
    }
    if (!summary.at("forbidden").empty()) {
        text += fmt::format("\nWhere an operator's own limit forbids {:.2f}x\n",
                            number(summary, "target"));
    }
    for (const json& f : summary.at("forbidden")) {
        text += fmt::format("{:<32} {:>2} {:<9} {:<8} at most {:.2f}x by its {}, reached {:.2f}x\n",
                            f.at("matrix").get<std::string>(), f.at("devices").get<int>(),
                            f.at("operator").get<std::string>(), f.at("format").get<std::string>(),
                            number(f, "most_speedup"), f.at("because").get<std::string>(),
                            number(f, "speedup"));
    }
    return text;
}

} // namespace krylith::bench
