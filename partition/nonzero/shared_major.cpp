#include <krylith/partition/nonzero/shared_major.hpp>

#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse(const shared_line& found, const std::string& what) {
    throw usage_error("shared_lines: line " + to_string(found.line) + " of parts " +
                      to_string(found.first_part) + " to " + to_string(found.last_part) + " " +
                      what);
}

} // namespace

std::vector<shared_line> shared_lines(std::span<const line_share> shares) {
    std::vector<shared_line> result;
    int before = 0; // the last part that has entries
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const line_share& share = shares[k];
        if (share.entries() == 0) continue;
        const int part = static_cast<int>(k);
        if (share.start_flag) {
            if (result.empty() || result.back().line != share.start_line)
                result.push_back({share.start_line, before, part});
            result.back().last_part = part;
        }
        before = part;
    }
    return result;
}

void check(std::span<const shared_line> plan, std::span<const line_share> shares) {
    const auto parts = static_cast<int>(shares.size());
    std::size_t flagged = 0;
    for (const line_share& share : shares) flagged += share.start_flag ? 1 : 0;
    std::size_t counted = 0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const shared_line& found = plan[i];
        if (found.first_part < 0 || found.last_part <= found.first_part || found.last_part >= parts)
            refuse(found, "must have at least two of the " + to_string(parts) + " parts");
        if (i > 0 && found.line <= plan[i - 1].line)
            refuse(found,
                   "stands after line " + to_string(plan[i - 1].line) + ", lines must ascend");
        const line_share& owner = shares[static_cast<std::size_t>(found.first_part)];
        if (!owner.owned().contains(found.line) || owner.entries() == 0)
            refuse(found, "is not owned by the first of them");
        if (!shares[static_cast<std::size_t>(found.last_part)].start_flag)
            refuse(found, "doesn't go on in the last of them");
        for (int k = found.first_part + 1; k <= found.last_part; ++k) {
            const line_share& share = shares[static_cast<std::size_t>(k)];
            if (share.entries() == 0) continue;
            if (!share.start_flag || share.start_line != found.line)
                refuse(found, "is not the first line of part " + to_string(k));
            ++counted;
        }
    }
    if (counted != flagged)
        throw usage_error("shared_lines: " + to_string(counted) +
                          " parts continue a line, must be " + to_string(flagged));
}

} // namespace krylith
