#include <krylith/bench/sparse/formats_summary.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace krylith::bench {

void formats_summary::take(const json& row) {
    if (row.at("kernel") != "formats" || !row.at("void_because").empty() || !row.contains("ms"))
        return;
    const auto matrix = row.at("matrix").get<std::string>();
    const auto ms = row.at("ms").at("median").get<double>();
    if (row.at("variant") != "auto") {
        fastest_ = matrix == matrix_ ? std::min(fastest_, ms) : ms;
        matrix_ = matrix;
        return;
    }
    const double best = matrix == matrix_ ? std::min(fastest_, ms) : ms;
    lines_.push_back({matrix, row.value("speedup", 0.0), ms / best - 1});
}

formats_summary::totals formats_summary::add_up() const {
    totals result{0, 0, lines_.front(), lines_.front()};
    double logarithms = 0;
    double losses = 0;
    int compared = 0;
    for (const line& l : lines_) {
        losses += std::log1p(l.loss);
        if (l.loss > result.largest_loss.loss) result.largest_loss = l;
        if (l.speedup <= 0) continue;
        logarithms += std::log(l.speedup);
        ++compared;
        if (result.least_speedup.speedup <= 0 || l.speedup < result.least_speedup.speedup)
            result.least_speedup = l;
    }
    if (compared > 0) result.mean_speedup = std::exp(logarithms / compared);
    result.mean_loss = std::expm1(losses / static_cast<double>(lines_.size()));
    return result;
}

std::string formats_summary::text() const {
    const totals all = add_up();
    std::string result = fmt::format(
        "auto on {} matrices: loses at most {:.1f}% against the fastest format ({}), "
        "{:.1f}% in the geometric mean\n",
        matrices(), 100 * all.largest_loss.loss, all.largest_loss.matrix, 100 * all.mean_loss);
    if (all.mean_speedup > 0)
        result +=
            fmt::format("against the other library: geometric mean {:.2f}x, least {:.2f}x "
                        "({})\n",
                        all.mean_speedup, all.least_speedup.speedup, all.least_speedup.matrix);
    return result;
}

json formats_summary::to_json() const {
    const totals all = add_up();
    return {{"matrices", matrices()},
            {"mean_speedup", all.mean_speedup},
            {"least_speedup", all.least_speedup.speedup},
            {"least_speedup_of", all.least_speedup.matrix},
            {"mean_loss", all.mean_loss},
            {"largest_loss", all.largest_loss.loss},
            {"largest_loss_of", all.largest_loss.matrix}};
}

} // namespace krylith::bench
