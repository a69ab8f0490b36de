#include <krylith/bench/graph/graph_oracle.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

namespace {

using spmspv::kernel_count;
using spmspv::kernel_names;
using spmspv::product_parts;
using spmspv::product_record;

/// The most products of the first run that are kept.
constexpr std::size_t most_kept_products = 400;

double least_seconds_of(const product_record& product) {
    return *std::ranges::min_element(product.rehearsed);
}

double seconds_chosen_in(const product_record& product) {
    return product.rehearsed[static_cast<std::size_t>(product.used)];
}

/// The microseconds of the parts, over so many products.
json parts_json(const product_parts& p, double products) {
    const double unit = 1e6 / products;
    return {{"features", p.features * unit},
            {"model", p.model * unit},
            {"conversions", p.conversions * unit},
            {"kernel", p.kernel * unit}};
}

json product_json(const product_record& product) {
    json us = json::array();
    for (const double seconds : product.rehearsed) {
        us.push_back(seconds * 1e6);
    }
    return {{"entries", product.entries},
            {"frontier_nonzeros", product.frontier_nonzeros},
            {"used", std::string(to_string(product.used))},
            {"us", us},
            {"parts_us", parts_json(product.parts, 1)}};
}

/// What the products of runs add up to.
struct choice_sums {
    double products = 0;
    double right = 0;
    double strictly = 0;
    double fastest_seconds = 0;
    double chosen_seconds = 0;
    std::array<double, kernel_count> by_kernel = {};
    product_parts parts;

    void add(const product_record& product) {
        const double least = least_seconds_of(product);
        const double taken = seconds_chosen_in(product);
        products += 1;
        right += taken <= right_within * least ? 1 : 0;
        strictly += taken == least ? 1 : 0;
        fastest_seconds += least;
        chosen_seconds += taken;
        for (std::size_t k = 0; k < by_kernel.size(); ++k) {
            by_kernel[k] += product.rehearsed[k];
        }
        parts.features += product.parts.features;
        parts.model += product.parts.model;
        parts.conversions += product.parts.conversions;
        parts.kernel += product.parts.kernel;
    }
    [[nodiscard]] double loss(double seconds) const { return seconds / fastest_seconds - 1; }
};

} // namespace

graph_contestant graph_oracle(int rounds) {
    return {"oracle", {}, {.clocked = true, .rehearsals = rounds}, false};
}

json judge_choices(const graph_timing& timing, json row) {
    choice_sums sums;
    json by_step = json::array();
    for (const graph_outcome& outcome : timing.outcomes) {
        for (const graph_step& step : outcome.steps) {
            for (const product_record& product : step.products) {
                sums.add(product);
                if (&outcome == &timing.outcomes.front() && by_step.size() < most_kept_products) {
                    by_step.push_back(product_json(product));
                }
            }
        }
    }
    row["products"] = static_cast<std::int64_t>(sums.products);
    row["right"] = sums.right / sums.products;
    row["strictly"] = sums.strictly / sums.products;
    row["loss"] = sums.loss(sums.chosen_seconds);
    for (std::size_t k = 0; k < kernel_names.size(); ++k) {
        row["losses"][std::string(kernel_names[k])] = sums.loss(sums.by_kernel[k]);
    }
    row["parts_us"] = parts_json(sums.parts, sums.products);
    row["void_because"] = timing.wrong.empty() ? json::array() : json::array({timing.wrong});
    row["by_step"] = std::move(by_step);
    return row;
}

std::string oracle_line(const json& row) {
    std::string kernel;
    double least = 0;
    for (const auto& [name, loss] : row["losses"].items()) {
        if (kernel.empty() || loss.get<double>() < least) {
            kernel = name;
            least = loss.get<double>();
        }
    }
    const auto number = [&](const json& of, const char* key) { return of[key].get<double>(); };
    const json& parts = row["parts_us"];
    return fmt::format(
        "{:<26} {:<8} {:>2} {:>5.0f} products, right {:.1f}% (fastest {:.1f}%), loss {:.1f}%, "
        "always {}: {:.1f}%; us a product: features {:.1f}, model {:.1f}, conversions {:.1f}, "
        "kernel {:.1f}{}\n",
        tool::one_line(row["matrix"].get<std::string>()), row["algorithm"].get<std::string>(),
        row["devices"].get<int>(), number(row, "products"), 100 * number(row, "right"),
        100 * number(row, "strictly"), 100 * number(row, "loss"), kernel, 100 * least,
        number(parts, "features"), number(parts, "model"), number(parts, "conversions"),
        number(parts, "kernel"), row["void_because"].empty() ? "" : "  VOID");
}

json oracle_summary(const std::vector<json>& rows) {
    struct sums {
        double graphs = 0;
        double right = 0;
        double loss = 0;
    };
    std::map<std::pair<std::string, int>, sums> by_task;
    for (const json& row : rows) {
        if (!row.contains("loss") || is_void(row)) {
            continue;
        }
        sums& s = by_task[{row["algorithm"].get<std::string>(), row["devices"].get<int>()}];
        s.graphs += 1;
        s.right += row["right"].get<double>();
        s.loss += row["loss"].get<double>();
    }
    json all = json::array();
    for (const auto& [task, s] : by_task) {
        all.push_back({{"algorithm", task.first},
                       {"devices", task.second},
                       {"graphs", s.graphs},
                       {"right", s.right / s.graphs},
                       {"loss", s.loss / s.graphs}});
    }
    return all;
}

} // namespace krylith::bench
