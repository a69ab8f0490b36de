#include <krylith/partition/nonzero/joined_ranges.hpp>

#include <algorithm>
#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse(std::size_t part, const std::string& what) {
    throw usage_error("join: part " + to_string(part) + " " + what);
}

void require_size(std::size_t part, const char* what, std::size_t size, std::size_t wanted) {
    if (size != wanted)
        refuse(part, "has " + to_string(size) + " " + what + ", must have " + to_string(wanted));
}

/// A major index that goes on has entries in the part, and the part before ends with it.
struct major_ends {
    bool first_has_entries = false;
    bool last_has_entries = false;
};

major_ends check_pointers(std::size_t part, const major_range& majors,
                          std::span<const std::int64_t> offsets) {
    require_size(part, "offsets", offsets.size(), as_size(majors.major_size()) + 1);
    if (offsets.front() != 0)
        refuse(part, "has offset " + to_string(offsets.front()) + " at 0, must have 0");
    for (std::size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] < offsets[i - 1])
            refuse(part, "has offset " + to_string(offsets[i]) + " at " + to_string(i) +
                             ", must not be below that before it, " + to_string(offsets[i - 1]));
    if (offsets.back() != majors.entries())
        refuse(part, "has offsets to " + to_string(offsets.back()) +
                         ", must be its number of entries, " + to_string(majors.entries()));
    if (offsets.size() == 1) return {};
    return {offsets[1] > 0, offsets[offsets.size() - 2] < offsets.back()};
}

template <class From, class To>
void append(const From& from, To& to) {
    to.insert(to.end(), from.begin(), from.end());
}

} // namespace

template <class T, major_order Major>
compressed_arrays<T> join(std::span<const compressed_range<T, Major>> ranges,
                          std::int64_t major_size) {
    std::vector<major_range> major_ranges;
    for (const auto& range : ranges) major_ranges.push_back(range.majors);
    const std::int64_t entries = major_ranges.empty() ? 0 : major_ranges.back().end_idx;
    check_chain(major_ranges, major_size, entries, Major == major_order::row ? "row" : "column");
    compressed_arrays<T> result;
    result.offsets.reserve(as_size(major_size) + 1);
    result.indices.reserve(as_size(entries));
    result.values.reserve(as_size(entries));
    const bool pattern =
        std::ranges::all_of(ranges, [](const auto& range) { return range.values.empty(); });
    bool before_ends_open = false; // the last major index with entries is the last of its part
    for (std::size_t k = 0; k < ranges.size(); ++k) {
        const auto& range = ranges[k];
        const major_ends ends = check_pointers(k, range.majors, range.offsets);
        require_size(k, "indices", range.indices.size(), as_size(range.majors.entries()));
        if (!pattern)
            require_size(k, "values", range.values.size(), as_size(range.majors.entries()));
        if (range.majors.start_flag && !(ends.first_has_entries && before_ends_open))
            refuse(k, "has start_flag, but its first line has no entries here or at the end of "
                      "the part before");
        const std::size_t skipped = range.majors.start_flag ? 1 : 0;
        for (const std::int64_t end : range.offsets.subspan(1 + skipped))
            result.offsets.push_back(range.majors.start_idx + end);
        // The part's first offset of an own major index closes the major index that goes on.
        if (skipped == 1)
            result.offsets[as_size(range.majors.start_major) + 1] =
                range.majors.start_idx + range.offsets[1];
        append(range.indices, result.indices);
        append(range.values, result.values);
        if (range.majors.entries() > 0 || range.majors.major_size() > 0)
            before_ends_open = ends.last_has_entries;
    }
    return result;
}

template <class T>
coo_arrays<T> join(std::span<const pcoo_range<T>> ranges) {
    const bool pattern =
        std::ranges::all_of(ranges, [](const auto& range) { return range.values.empty(); });
    coo_arrays<T> result;
    std::int64_t next = 0;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
        const pcoo_range<T>& range = ranges[k];
        if (range.majors.start_idx != next || range.majors.end_idx < next)
            refuse(k, "has the entries from " + to_string(range.majors.start_idx) + " to below " +
                          to_string(range.majors.end_idx) + ", must have those from " +
                          to_string(next) + " on");
        next = range.majors.end_idx;
        const std::size_t entries = as_size(range.majors.entries());
        require_size(k, "row indices", range.row_indices.size(), entries);
        require_size(k, "column indices", range.column_indices.size(), entries);
        if (!pattern) require_size(k, "values", range.values.size(), entries);
        append(range.row_indices, result.row_indices);
        append(range.column_indices, result.column_indices);
        append(range.values, result.values);
    }
    return result;
}

template compressed_arrays<double> join(std::span<const pcsr_range<double>>, std::int64_t);
template compressed_arrays<float> join(std::span<const pcsr_range<float>>, std::int64_t);
template compressed_arrays<double> join(std::span<const pcsc_range<double>>, std::int64_t);
template compressed_arrays<float> join(std::span<const pcsc_range<float>>, std::int64_t);
template coo_arrays<double> join(std::span<const pcoo_range<double>>);
template coo_arrays<float> join(std::span<const pcoo_range<float>>);

} // namespace krylith
