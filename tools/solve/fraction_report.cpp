#include <krylith/tools/solve/fraction_report.hpp>

#include <nlohmann/json.hpp>

namespace krylith::tool {

nlohmann::ordered_json as_json(const std::optional<fraction_choice>& choice) {
    using json = nlohmann::ordered_json;
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
