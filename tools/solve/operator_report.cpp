#include <krylith/tools/solve/operator_report.hpp>

#include <fmt/format.h>

#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

std::string in_words(const reordering_report& r) {
    return fmt::format("{} in {}: bandwidth {} -> {}, ghosts {} -> {}", to_string(r.order),
                       in_seconds(r.seconds), r.bandwidth_before, r.bandwidth_after,
                       r.ghosts_before, r.ghosts_after);
}

std::string format_in_words(const std::string& name, double narrow_fraction) {
    if (narrow_fraction == 0) return name;
    return fmt::format("{} ({:.3g}% of the values narrow)", name, 100 * narrow_fraction);
}

json as_json(const reordering_report& r) {
    if (!r.order) return nullptr;
    return {{"order", to_string(r.order)},
            {"seconds", r.seconds},
            {"bandwidth_before", r.bandwidth_before},
            {"bandwidth_after", r.bandwidth_after},
            {"ghosts_before", r.ghosts_before},
            {"ghosts_after", r.ghosts_after}};
}

json as_json(const std::optional<fraction_choice>& choice) {
    if (!choice) return nullptr;
    const auto point = [](const row_fractions& fractions) {
        return json{{"long_fraction", fractions.long_rows},
                    {"redundant_fraction", fractions.redundant}};
    };
    json trials = json::array();
    for (const timed_fractions& t : choice->tried) {
        json row = point(t.fractions);
        row["seconds_per_iteration"] = t.seconds;
        trials.push_back(row);
    }
    return {{"best", point(choice->best)},
            {"rule", point(choice->rule)},
            {"rule_loss", choice->rule_loss > 0 ? json(choice->rule_loss) : json()},
            {"from", choice->from},
            {"trials", trials}};
}

} // namespace krylith::tool
