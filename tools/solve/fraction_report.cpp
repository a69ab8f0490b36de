#include <krylith/tools/solve/fraction_report.hpp>

#include <nlohmann/json.hpp>

namespace krylith::tool {

nlohmann::ordered_json as_json(const std::optional<share_choice>& choice) {
    using json = nlohmann::ordered_json;
    if (!choice) return nullptr;
    const auto point = [](const row_shares& shares) {
        return json{{"long_share", shares.long_rows}, {"redundant_share", shares.redundant}};
    };
    json trials = json::array();
    for (const timed_shares& t : choice->tried) {
        json row = point(t.shares);
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
