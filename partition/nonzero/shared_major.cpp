#include <krylith/partition/nonzero/shared_major.hpp>

#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse(const shared_index& found, const std::string& what) {
    throw usage_error("shared_indices: line " + to_string(found.major) + " of parts " +
                      to_string(found.first_part) + " to " + to_string(found.last_part) + " " +
                      what);
}

} // namespace

std::vector<shared_index> shared_indices(std::span<const major_range> major_ranges) {
    std::vector<shared_index> result;
    int before = 0; // the last part that has entries
    for (std::size_t k = 0; k < major_ranges.size(); ++k) {
        const major_range& majors = major_ranges[k];
        if (majors.entries() == 0) continue;
        const int part = static_cast<int>(k);
        if (majors.start_flag) {
            if (result.empty() || result.back().major != majors.start_major)
                result.push_back({majors.start_major, before, part});
            result.back().last_part = part;
        }
        before = part;
    }
    return result;
}

void check(std::span<const shared_index> plan, std::span<const major_range> major_ranges) {
    const auto parts = static_cast<int>(major_ranges.size());
    std::size_t flagged = 0;
    for (const major_range& majors : major_ranges) flagged += majors.start_flag ? 1 : 0;
    std::size_t counted = 0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const shared_index& found = plan[i];
        if (found.first_part < 0 || found.last_part <= found.first_part || found.last_part >= parts)
            refuse(found, "must have at least two of the " + to_string(parts) + " parts");
        if (i > 0 && found.major <= plan[i - 1].major)
            refuse(found,
                   "stands after line " + to_string(plan[i - 1].major) + ", lines must ascend");
        const major_range& owner = major_ranges[static_cast<std::size_t>(found.first_part)];
        if (!owner.owned().contains(found.major) || owner.entries() == 0)
            refuse(found, "is not owned by the first of them");
        if (!major_ranges[static_cast<std::size_t>(found.last_part)].start_flag)
            refuse(found, "doesn't go on in the last of them");
        for (int k = found.first_part + 1; k <= found.last_part; ++k) {
            const major_range& majors = major_ranges[static_cast<std::size_t>(k)];
            if (majors.entries() == 0) continue;
            if (!majors.start_flag || majors.start_major != found.major)
                refuse(found, "is not the first line of part " + to_string(k));
            ++counted;
        }
    }
    if (counted != flagged)
        throw usage_error("shared_indices: " + to_string(counted) +
                          " parts continue a line, must be " + to_string(flagged));
}

} // namespace krylith
