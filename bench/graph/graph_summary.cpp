#include <krylith/bench/common/geometric_mean.hpp>
#include <krylith/bench/graph/graph_run.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace krylith::bench {

namespace {

bool good(const json& row) {
    return row.contains("ms") && row["void_because"].empty();
}

double ms(const json& row) {
    return row["ms"]["median"].get<double>();
}

/// The name under which a contestant enters speedups; empty where it doesn't.
std::string role_of(const json& row) {
    const std::string name = row["contestant"];
    if (name == "adaptive") {
        return "";
    }
    return name == "cusparse" ? name : row.contains("threshold") ? "best_switch" : "best_kernel";
}

json mean_as_json(const geometric_mean& m) {
    return {{"geometric_mean", m.value()}, {"least", m.least}, {"graphs", m.count}};
}

} // namespace

void add_graph_speedups(std::vector<json>& rows) {
    json* adaptive = nullptr;
    std::map<std::string, double> least;
    for (json& row : rows) {
        if (!good(row)) {
            continue;
        }
        const std::string role = role_of(row);
        if (role.empty()) {
            adaptive = &row;
        } else if (!least.contains(role) || ms(row) < least[role]) {
            least[role] = ms(row);
        }
    }
    if (adaptive == nullptr) {
        return;
    }
    for (const auto& [role, time] : least) {
        (*adaptive)["speedup"][role] = time / ms(*adaptive);
    }
}

json graph_summary(const std::vector<json>& rows) {
    using task = std::pair<std::string, int>;
    std::map<task, std::map<std::string, geometric_mean>> speedups;
    std::map<std::tuple<task, std::string>, double> adaptive; // by graph
    for (const json& row : rows) {
        if (!good(row) || row["contestant"] != "adaptive") {
            continue;
        }
        const task t{row["algorithm"], row["devices"]};
        adaptive[{t, row["matrix"]}] = ms(row);
        if (row.contains("speedup")) {
            for (const auto& [role, factor] : row["speedup"].items()) {
                speedups[t][role].add(factor.get<double>());
            }
        }
    }
    std::map<task, std::map<std::string, geometric_mean>> switches; // by name
    for (const json& row : rows) {
        const task t{row["algorithm"], row["devices"]};
        const auto found = adaptive.find({t, row["matrix"]});
        if (good(row) && row.contains("threshold") && found != adaptive.end()) {
            switches[t][row["contestant"]].add(ms(row) / found->second);
        }
    }
    json all = json::array();
    for (const auto& [t, by_role] : speedups) {
        json line = {{"algorithm", t.first}, {"devices", t.second}};
        for (const auto& [role, factors] : by_role) {
            line["speedup"][role] = mean_as_json(factors);
        }
        const std::string* best = nullptr;
        for (const auto& [name, factors] : switches[t]) {
            if (best == nullptr || factors.count > switches[t][*best].count ||
                (factors.count == switches[t][*best].count &&
                 factors.logarithms < switches[t][*best].logarithms)) {
                best = &name;
            }
        }
        if (best != nullptr) {
            line["best_switch_of_all"] = *best;
            line["speedup"]["best_switch_of_all"] = mean_as_json(switches[t][*best]);
        }
        all.push_back(std::move(line));
    }
    return all;
}

} // namespace krylith::bench
