#include <krylith/partition/pcsr.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/balance/fraction.hpp>

namespace krylith {

namespace {

using std::to_string;

std::vector<major_range> ranges_of(std::int64_t majors, std::span<const cut_place> places,
                                   const nonzero_partition& entries) {
    const int count = entries.parts();
    std::vector<major_range> ranges(as_size(count));
    for (int k = 0; k <= count; ++k) {
        const std::int64_t cut = entries.begin[as_size(k)];
        const cut_place place = places[as_size(k)];
        const std::int64_t even = fraction_of(majors, k, count);
        const std::int64_t major = std::max(place.first, std::min(even, place.last));
        if (k > 0) {
            ranges[as_size(k - 1)].end_idx = cut;
            ranges[as_size(k - 1)].end_major = major;
        }
        if (k < count) {
            const bool flag = place.inside && entries.begin[as_size(k + 1)] > cut;
            ranges[as_size(k)].start_idx = cut;
            ranges[as_size(k)].start_major = major - (flag ? 1 : 0);
            ranges[as_size(k)].start_flag = flag;
        }
    }
    return ranges;
}

std::vector<shared_major> shared_by(std::span<const major_range> ranges) {
    std::vector<shared_major> result;
    int before = 0; // the last range that has entries
    for (std::size_t k = 0; k < ranges.size(); ++k) {
        if (ranges[k].entries() == 0) continue;
        const auto number = static_cast<int>(k);
        if (ranges[k].start_flag) {
            if (result.empty() || result.back().major != ranges[k].start_major)
                result.push_back({ranges[k].start_major, before, number});
            result.back().last = number;
        }
        before = number;
    }
    return result;
}

} // namespace

std::vector<std::int64_t> range_offsets(std::span<const std::int64_t> offsets,
                                        const major_range& range) {
    if (range.start_major < 0 || range.majors() < 0 ||
        range.end_major >= static_cast<std::int64_t>(offsets.size()))
        throw usage_error("range_offsets: the range has the majors from " +
                          to_string(range.start_major) + " to " + to_string(range.end_major) +
                          ", must be within those of " + to_string(offsets.size()) + " offsets");
    std::vector<std::int64_t> result;
    for (const std::int64_t offset :
         offsets.subspan(as_size(range.start_major), as_size(range.majors()) + 1))
        result.push_back(range_offset(offset, range.start_idx, range.end_idx));
    return result;
}

row_partition pcsr::owned() const {
    row_partition result;
    for (const major_range& range : ranges) result.begin.push_back(range.end_major);
    return result;
}

int pcsr::last_holder(int k) const {
    const auto found = std::ranges::lower_bound(shared, k, {}, &shared_major::first);
    return found != shared.end() && found->first == k ? found->last : k;
}

pcsr make_pcsr(std::span<const std::int64_t> offsets, const nonzero_partition& entries) {
    check(entries, entries.entries());
    if (offsets.empty())
        throw usage_error("make_pcsr: offsets has 0 numbers, must have one more than the matrix "
                          "has rows (pCSR) or columns (pCSC)");
    if (offsets.front() != 0 || offsets.back() != entries.entries())
        throw input_error("make_pcsr: offsets runs from " + to_string(offsets.front()) + " to " +
                          to_string(offsets.back()) +
                          ", must run from 0 to the number of entries, " +
                          to_string(entries.entries()));
    const auto majors = static_cast<std::int64_t>(offsets.size()) - 1;
    std::vector<cut_place> places;
    for (const std::int64_t cut : entries.begin)
        places.push_back(find_cut_place(offsets.data(), majors, cut));
    return make_pcsr(majors, places, entries);
}

pcsr make_pcsr(std::int64_t majors, std::span<const cut_place> places,
               const nonzero_partition& entries) {
    check(entries, entries.entries());
    if (places.size() != entries.begin.size())
        throw usage_error("make_pcsr: there are " + to_string(places.size()) +
                          " places, must be one for each end of a range, " +
                          to_string(entries.begin.size()));
    pcsr result{ranges_of(majors, places, entries)};
    result.shared = shared_by(result.ranges);
    return result;
}

pcsr make_pcoo(std::int64_t majors, std::span<const std::int32_t> major_of,
               const nonzero_partition& entries) {
    const auto count = static_cast<std::int64_t>(major_of.size());
    check(entries, count);
    if (majors < 0)
        throw usage_error("make_pcoo: majors is " + to_string(majors) + ", must be 0 or more");
    const auto checked = [&](std::int64_t k) -> std::int64_t {
        const std::int32_t major = major_of[as_size(k)];
        if (major < 0 || major >= majors)
            throw input_error("make_pcoo: entry " + to_string(k) + " has the major index " +
                              to_string(major) + ", must be 0 or more and below " +
                              to_string(majors));
        return major;
    };
    std::vector<cut_place> places;
    for (const std::int64_t cut : entries.begin) {
        cut_place place{0, majors, false};
        if (cut > 0) place.first = checked(cut - 1) + 1;
        if (cut < count) place.last = checked(cut);
        place.inside = cut > 0 && cut < count && place.last + 1 == place.first;
        if (place.inside) place.last = place.first;
        places.push_back(place);
    }
    return make_pcsr(majors, places, entries);
}

} // namespace krylith
