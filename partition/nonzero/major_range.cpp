#include <krylith/partition/nonzero/major_range.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/balance/fraction.hpp>

namespace krylith {

namespace {

using std::to_string;

/// Where a cut between entries falls: the lines that can be the first to begin at or after it.
/// Those before `last` have no entries.
struct cut_place {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool inside = false; ///< the line before them goes on after the cut; then first == last
};

/// place_of(cut) is called for each of the parts + 1 cuts.
template <class PlaceOf>
std::vector<line_share> shares_of(std::int64_t lines, const entry_partition& entries,
                                  const PlaceOf& place_of) {
    const int parts = entries.parts();
    std::vector<line_share> shares(as_size(parts));
    for (int k = 0; k <= parts; ++k) {
        const std::int64_t cut = entries.begin[as_size(k)];
        const cut_place place = place_of(cut);
        const std::int64_t even = fraction_of(lines, k, parts);
        const std::int64_t line = std::max(place.first, std::min(even, place.last));
        if (k > 0) {
            shares[as_size(k - 1)].end_idx = cut;
            shares[as_size(k - 1)].end_line = line;
        }
        if (k < parts) {
            const bool flag = place.inside && entries.begin[as_size(k + 1)] > cut;
            shares[as_size(k)].start_idx = cut;
            shares[as_size(k)].start_line = line - (flag ? 1 : 0);
            shares[as_size(k)].start_flag = flag;
        }
    }
    return shares;
}

/// The line of entry k, which must be one.
std::int64_t checked_line(const char* who, std::span<const std::int32_t> line_of, std::int64_t k,
                          std::int64_t lines) {
    const std::int32_t line = line_of[as_size(k)];
    if (line < 0 || line >= lines)
        throw input_error(std::string(who) + ": entry " + to_string(k) + " is in line " +
                          to_string(line) + ", must be 0 or more and below " + to_string(lines));
    return line;
}

void require_lines(const char* who, std::int64_t lines) {
    if (lines < 0)
        throw usage_error(std::string(who) + ": lines is " + to_string(lines) +
                          ", must be 0 or more");
}

} // namespace

std::vector<line_share> share_lines(std::span<const std::int64_t> offsets,
                                    const entry_partition& entries) {
    check(entries, entries.entries());
    if (offsets.empty())
        throw usage_error("share_lines: offsets has 0 numbers, must have lines + 1");
    if (offsets.front() != 0 || offsets.back() != entries.entries())
        throw input_error("share_lines: offsets runs from " + to_string(offsets.front()) + " to " +
                          to_string(offsets.back()) +
                          ", must run from 0 to the number of entries, " +
                          to_string(entries.entries()));
    const auto lines = static_cast<std::int64_t>(offsets.size()) - 1;
    return shares_of(lines, entries, [&](std::int64_t cut) {
        const auto first = std::ranges::lower_bound(offsets, cut);
        cut_place place{first - offsets.begin(), first - offsets.begin(), *first != cut};
        if (!place.inside)
            place.last = std::upper_bound(first, offsets.end(), cut) - offsets.begin() - 1;
        return place;
    });
}

std::vector<line_share> share_sorted_lines(std::int64_t lines,
                                           std::span<const std::int32_t> line_of,
                                           const entry_partition& entries) {
    const auto count = static_cast<std::int64_t>(line_of.size());
    check(entries, count);
    require_lines("share_sorted_lines", lines);
    return shares_of(lines, entries, [&](std::int64_t cut) {
        cut_place place{0, lines, false};
        if (cut > 0) place.first = checked_line("share_sorted_lines", line_of, cut - 1, lines) + 1;
        if (cut < count) place.last = checked_line("share_sorted_lines", line_of, cut, lines);
        place.inside = cut > 0 && cut < count && place.last + 1 == place.first;
        if (place.inside) place.last = place.first;
        return place;
    });
}

std::vector<line_share> share_unsorted_lines(std::int64_t lines,
                                             std::span<const std::int32_t> line_of,
                                             const entry_partition& entries) {
    check(entries, static_cast<std::int64_t>(line_of.size()));
    require_lines("share_unsorted_lines", lines);
    constexpr std::int64_t worth_a_team = 1 << 15;
    std::vector<line_share> shares;
    for (int k = 0; k < entries.parts(); ++k) {
        const std::int64_t begin = entries.begin[as_size(k)];
        const std::int64_t end = entries.begin[as_size(k) + 1];
        std::int32_t least = 0;
        std::int32_t greatest = -1; // of no entries
        if (begin < end) least = greatest = line_of[as_size(begin)];
#pragma omp parallel for schedule(static) reduction(min                                            \
                                                    : least)                                       \
    reduction(max                                                                                  \
              : greatest) if (end - begin > worth_a_team)
        for (std::int64_t i = begin; i < end; ++i) {
            least = std::min(least, line_of[as_size(i)]);
            greatest = std::max(greatest, line_of[as_size(i)]);
        }
        if (least < 0 || greatest >= lines) // says which entry
            for (std::int64_t i = begin; i < end; ++i)
                (void)checked_line("share_unsorted_lines", line_of, i, lines);
        shares.push_back({begin, end, least, std::int64_t{greatest} + 1, false});
    }
    return shares;
}

row_partition owned_lines(std::span<const line_share> shares) {
    row_partition result;
    for (const line_share& share : shares) result.begin.push_back(share.end_line);
    return result;
}

} // namespace krylith
