#include <krylith/tools/solve/reordering_words.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/tools/solve/solve_summary.hpp>

namespace krylith::tool {

std::string in_words(const reordering_report& r) {
    return fmt::format("{} in {}: bandwidth {} -> {}, ghosts {} -> {}", to_string(r.order),
                       in_seconds(r.seconds), r.bandwidth_before, r.bandwidth_after,
                       r.ghosts_before, r.ghosts_after);
}

nlohmann::ordered_json as_json(const reordering_report& r) {
    if (r.order == reordering::none) return nullptr;
    return {{"order", to_string(r.order)},
            {"seconds", r.seconds},
            {"bandwidth_before", r.bandwidth_before},
            {"bandwidth_after", r.bandwidth_after},
            {"ghosts_before", r.ghosts_before},
            {"ghosts_after", r.ghosts_after}};
}

} // namespace krylith::tool
