#include <krylith/partition/nonzero/major_range.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/balance/fraction.hpp>

namespace krylith {

namespace {

using std::to_string;

/// Where a cut between entries falls: the major indices that can be the first to begin at or after
/// it. Those before `last` have no entries.
struct cut_place {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool inside = false; ///< the major index before them goes on after the cut; then first == last
};

/// place_of(cut) is called for each of the parts + 1 cuts.
template <class PlaceOf>
std::vector<major_range> shares_of(std::int64_t major_size, const nonzero_partition& entries,
                                   const PlaceOf& place_of) {
    const int parts = entries.parts();
    std::vector<major_range> major_ranges(as_size(parts));
    for (int k = 0; k <= parts; ++k) {
        const std::int64_t cut = entries.begin[as_size(k)];
        const cut_place place = place_of(cut);
        const std::int64_t even = fraction_of(major_size, k, parts);
        const std::int64_t major = std::max(place.first, std::min(even, place.last));
        if (k > 0) {
            major_ranges[as_size(k - 1)].end_idx = cut;
            major_ranges[as_size(k - 1)].end_major = major;
        }
        if (k < parts) {
            const bool flag = place.inside && entries.begin[as_size(k + 1)] > cut;
            major_ranges[as_size(k)].start_idx = cut;
            major_ranges[as_size(k)].start_major = major - (flag ? 1 : 0);
            major_ranges[as_size(k)].start_flag = flag;
        }
    }
    return major_ranges;
}

/// The major index of entry k, which must be one.
std::int64_t checked_index(const char* who, std::span<const std::int32_t> major_of, std::int64_t k,
                           std::int64_t major_size) {
    const std::int32_t major = major_of[as_size(k)];
    if (major < 0 || major >= major_size)
        throw input_error(std::string(who) + ": entry " + to_string(k) + " is in line " +
                          to_string(major) + ", must be 0 or more and below " +
                          to_string(major_size));
    return major;
}

void require_indices(const char* who, std::int64_t major_size) {
    if (major_size < 0)
        throw usage_error(std::string(who) + ": lines is " + to_string(major_size) +
                          ", must be 0 or more");
}

} // namespace

std::vector<major_range> make_major_ranges(std::span<const std::int64_t> offsets,
                                           const nonzero_partition& entries) {
    check(entries, entries.entries());
    if (offsets.empty())
        throw usage_error("make_major_ranges: offsets has 0 numbers, must have lines + 1");
    if (offsets.front() != 0 || offsets.back() != entries.entries())
        throw input_error("make_major_ranges: offsets runs from " + to_string(offsets.front()) +
                          " to " + to_string(offsets.back()) +
                          ", must run from 0 to the number of entries, " +
                          to_string(entries.entries()));
    const auto major_size = static_cast<std::int64_t>(offsets.size()) - 1;
    return shares_of(major_size, entries, [&](std::int64_t cut) {
        const auto first = std::ranges::lower_bound(offsets, cut);
        cut_place place{first - offsets.begin(), first - offsets.begin(), *first != cut};
        if (!place.inside)
            place.last = std::upper_bound(first, offsets.end(), cut) - offsets.begin() - 1;
        return place;
    });
}

std::vector<major_range> make_sorted_major_ranges(std::int64_t major_size,
                                                  std::span<const std::int32_t> major_of,
                                                  const nonzero_partition& entries) {
    const auto count = static_cast<std::int64_t>(major_of.size());
    check(entries, count);
    require_indices("make_sorted_major_ranges", major_size);
    return shares_of(major_size, entries, [&](std::int64_t cut) {
        cut_place place{0, major_size, false};
        if (cut > 0)
            place.first =
                checked_index("make_sorted_major_ranges", major_of, cut - 1, major_size) + 1;
        if (cut < count)
            place.last = checked_index("make_sorted_major_ranges", major_of, cut, major_size);
        place.inside = cut > 0 && cut < count && place.last + 1 == place.first;
        if (place.inside) place.last = place.first;
        return place;
    });
}

std::vector<major_range> make_unsorted_major_ranges(std::int64_t major_size,
                                                    std::span<const std::int32_t> major_of,
                                                    const nonzero_partition& entries) {
    check(entries, static_cast<std::int64_t>(major_of.size()));
    require_indices("make_unsorted_major_ranges", major_size);
    constexpr std::int64_t worth_a_team = 1 << 15;
    std::vector<major_range> major_ranges;
    for (int k = 0; k < entries.parts(); ++k) {
        const std::int64_t begin = entries.begin[as_size(k)];
        const std::int64_t end = entries.begin[as_size(k) + 1];
        std::int32_t least = 0;
        std::int32_t greatest = -1; // of no entries
        if (begin < end) least = greatest = major_of[as_size(begin)];
#pragma omp parallel for schedule(static) reduction(min                                            \
                                                    : least)                                       \
    reduction(max                                                                                  \
              : greatest) if (end - begin > worth_a_team)
        for (std::int64_t i = begin; i < end; ++i) {
            least = std::min(least, major_of[as_size(i)]);
            greatest = std::max(greatest, major_of[as_size(i)]);
        }
        if (least < 0 || greatest >= major_size) // says which entry
            for (std::int64_t i = begin; i < end; ++i)
                (void)checked_index("make_unsorted_major_ranges", major_of, i, major_size);
        major_ranges.push_back({begin, end, least, std::int64_t{greatest} + 1, false});
    }
    return major_ranges;
}

row_partition owned_indices(std::span<const major_range> major_ranges) {
    row_partition result;
    for (const major_range& majors : major_ranges) result.begin.push_back(majors.end_major);
    return result;
}

} // namespace krylith
