// The checkers of major ranges, which have no code in common with what makes them.
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/major_range.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse(std::size_t part, const std::string& what) {
    throw usage_error("major_range: part " + to_string(part) + " " + what);
}

/// "row 5"
std::string name_of(const char* major, std::int64_t number) {
    std::string name = major;
    name += ' ';
    return name += to_string(number);
}

void check_entries(std::span<const major_range> major_ranges, std::int64_t entries) {
    if (major_ranges.empty())
        throw usage_error("major_range: there are 0 parts, must be at least 1");
    std::int64_t next = 0;
    for (std::size_t k = 0; k < major_ranges.size(); ++k) {
        if (major_ranges[k].start_idx != next)
            refuse(k, "begins at entry " + to_string(major_ranges[k].start_idx) +
                          ", must begin at " + to_string(next));
        if (major_ranges[k].end_idx < next)
            refuse(k, "ends at entry " + to_string(major_ranges[k].end_idx) +
                          ", before it begins, at " + to_string(next));
        next = major_ranges[k].end_idx;
    }
    if (next != entries)
        refuse(major_ranges.size() - 1, "ends at entry " + to_string(next) +
                                            ", must end at the number of entries, " +
                                            to_string(entries));
}

void check_range(std::span<const std::int32_t> major_of, std::int64_t major_size,
                 const char* major) {
    for (std::size_t i = 0; i < major_of.size(); ++i)
        if (major_of[i] < 0 || major_of[i] >= major_size)
            throw input_error("major_range: entry " + to_string(i) + " is in " + major + " " +
                              to_string(major_of[i]) + ", must be 0 or more and below " +
                              to_string(major_size));
}

} // namespace

void check_chain(std::span<const major_range> major_ranges, std::int64_t major_size,
                 std::int64_t entries, const char* major) {
    check_entries(major_ranges, entries);
    std::int64_t next = 0;
    for (std::size_t k = 0; k < major_ranges.size(); ++k) {
        const major_range& majors = major_ranges[k];
        const row_range owned = majors.owned();
        if (majors.start_flag && majors.entries() == 0) refuse(k, "has start_flag but no entries");
        if (owned.begin != next || majors.start_major < 0)
            refuse(k, std::string("owns the ") + major + "s from " + to_string(owned.begin) +
                          " on, must own them from " + to_string(next) + " on");
        if (owned.end < next)
            refuse(k, std::string("ends at ") + major + " " + to_string(owned.end) +
                          ", before those that it owns begin, at " + to_string(next));
        next = owned.end;
    }
    if (next != major_size)
        refuse(major_ranges.size() - 1, std::string("ends at ") + major + " " + to_string(next) +
                                            ", must end at their number, " + to_string(major_size));
}

void check(std::span<const major_range> major_ranges, std::span<const std::int64_t> offsets,
           const char* major) {
    if (offsets.empty())
        throw usage_error("major_range: offsets has 0 numbers, must have lines + 1");
    check_chain(major_ranges, static_cast<std::int64_t>(offsets.size()) - 1, offsets.back(), major);
    for (std::size_t k = 0; k < major_ranges.size(); ++k) {
        const major_range& majors = major_ranges[k];
        const std::int64_t begin = offsets[as_size(majors.start_major)];
        const std::int64_t end = offsets[as_size(majors.end_major)];
        const std::string first = name_of(major, majors.start_major);
        if (majors.entries() == 0 && begin != end)
            refuse(k,
                   "has no entries, but owns " + to_string(end - begin) + " from " + first + " on");
        if (majors.entries() == 0) continue;
        if (majors.start_flag && (begin >= majors.start_idx ||
                                  offsets[as_size(majors.start_major + 1)] <= majors.start_idx))
            refuse(k, "has start_flag, but at entry " + to_string(majors.start_idx) + " " + first +
                          ", of entries " + to_string(begin) + " to " +
                          to_string(offsets[as_size(majors.start_major + 1)]) + ", doesn't go on");
        if (!majors.start_flag && begin != majors.start_idx)
            refuse(k, "begins at entry " + to_string(majors.start_idx) + ", but " + first +
                          " begins at " + to_string(begin));
        if (end < majors.end_idx)
            refuse(k, "ends at entry " + to_string(majors.end_idx) + ", but its last " + major +
                          " ends at " + to_string(end));
    }
}

void check_sorted(std::span<const major_range> major_ranges, std::int64_t major_size,
                  std::span<const std::int32_t> major_of, const char* major) {
    check_range(major_of, major_size, major);
    for (std::size_t i = 1; i < major_of.size(); ++i)
        if (major_of[i] < major_of[i - 1])
            throw input_error("major_range: entry " + to_string(i) + " is in " + major + " " +
                              to_string(major_of[i]) + ", must not be before that of entry " +
                              to_string(i - 1) + ", " + to_string(major_of[i - 1]));
    check_chain(major_ranges, major_size, static_cast<std::int64_t>(major_of.size()), major);
    for (std::size_t k = 0; k < major_ranges.size(); ++k) {
        const major_range& majors = major_ranges[k];
        if (majors.entries() == 0) continue;
        const std::int64_t first = major_of[as_size(majors.start_idx)];
        const std::int64_t last = major_of[as_size(majors.end_idx - 1)];
        const bool goes_on =
            majors.start_idx > 0 && major_of[as_size(majors.start_idx - 1)] == first;
        if (majors.start_flag != goes_on)
            refuse(k, std::string("has ") + (majors.start_flag ? "" : "no ") + "start_flag, but " +
                          name_of(major, first) + (goes_on ? " goes on" : " begins") +
                          " at its first entry");
        if (first < majors.start_major || last >= majors.end_major ||
            (goes_on && first != majors.start_major))
            refuse(k, std::string("has entries of ") + major + "s " + to_string(first) + " to " +
                          to_string(last) + ", which must be among " +
                          to_string(majors.start_major) + " to " + to_string(majors.end_major - 1));
    }
}

void check_unsorted(std::span<const major_range> major_ranges, std::int64_t major_size,
                    std::span<const std::int32_t> major_of, const char* major) {
    check_range(major_of, major_size, major);
    check_entries(major_ranges, static_cast<std::int64_t>(major_of.size()));
    for (std::size_t k = 0; k < major_ranges.size(); ++k) {
        const major_range& majors = major_ranges[k];
        if (majors.start_flag) refuse(k, "has start_flag, which unsorted entries don't have");
        std::int64_t least = majors.entries() == 0 ? 0 : major_size;
        std::int64_t end = 0;
        for (std::int64_t i = majors.start_idx; i < majors.end_idx; ++i) {
            if (major_of[as_size(i)] < least) least = major_of[as_size(i)];
            if (major_of[as_size(i)] >= end) end = major_of[as_size(i)] + 1;
        }
        if (majors.start_major != least || majors.end_major != end)
            refuse(k, std::string("has the ") + major + "s from " + to_string(majors.start_major) +
                          " to below " + to_string(majors.end_major) + ", its entries are from " +
                          to_string(least) + " to below " + to_string(end));
    }
}

} // namespace krylith
