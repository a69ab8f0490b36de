// The checkers of pCSR, which have no code in common with what makes it.
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/pcsr.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse_range(std::size_t range, const std::string& what) {
    throw usage_error("pcsr: range " + to_string(range) + " " + what);
}

/// "row 5"
std::string name_of(const char* major, std::int64_t number) {
    std::string name = major;
    name += ' ';
    return name += to_string(number);
}

void check_entries(std::span<const major_range> ranges, std::int64_t entries) {
    if (ranges.empty()) throw usage_error("pcsr: there are 0 ranges, must be at least 1");
    std::int64_t next = 0;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
        if (ranges[k].start_idx != next)
            refuse_range(k, "begins at entry " + to_string(ranges[k].start_idx) +
                                ", must begin at " + to_string(next));
        if (ranges[k].end_idx < next)
            refuse_range(k, "ends at entry " + to_string(ranges[k].end_idx) +
                                ", before it begins, at " + to_string(next));
        next = ranges[k].end_idx;
    }
    if (next != entries)
        refuse_range(ranges.size() - 1, "ends at entry " + to_string(next) +
                                            ", must end at the number of entries, " +
                                            to_string(entries));
}

/// What can be said of ranges without the matrix. O(ranges).
void check_chain(std::span<const major_range> ranges, std::int64_t majors, std::int64_t entries,
                 const char* major) {
    check_entries(ranges, entries);
    std::int64_t next = 0;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
        const major_range& range = ranges[k];
        const row_range owned = range.owned();
        if (range.start_flag && range.entries() == 0)
            refuse_range(k, "has start_flag but no entries");
        if (owned.begin != next || range.start_major < 0)
            refuse_range(k, std::string("owns the ") + major + "s from " + to_string(owned.begin) +
                                " on, must own them from " + to_string(next) + " on");
        if (owned.end < next)
            refuse_range(k, std::string("ends at ") + major + " " + to_string(owned.end) +
                                ", before those that it owns begin, at " + to_string(next));
        next = owned.end;
    }
    if (next != majors)
        refuse_range(ranges.size() - 1, std::string("ends at ") + major + " " + to_string(next) +
                                            ", must end at their number, " + to_string(majors));
}

void check_shared(const pcsr& partition, const char* major) {
    const std::vector<major_range>& ranges = partition.ranges;
    const auto count = static_cast<int>(ranges.size());
    std::size_t flagged = 0;
    for (const major_range& range : ranges) flagged += range.start_flag ? 1 : 0;
    std::size_t counted = 0;
    for (std::size_t i = 0; i < partition.shared.size(); ++i) {
        const shared_major& found = partition.shared[i];
        const auto wrong = [&](const std::string& what) {
            throw usage_error("pcsr: shared " + name_of(major, found.major) + " of ranges " +
                              to_string(found.first) + " to " + to_string(found.last) + " " + what);
        };
        if (found.first < 0 || found.last <= found.first || found.last >= count)
            wrong("must have at least two of the " + to_string(count) + " ranges");
        if (i > 0 && found.major <= partition.shared[i - 1].major)
            wrong("stands after " + name_of(major, partition.shared[i - 1].major) + ", " + major +
                  "s must ascend");
        const major_range& owner = ranges[as_size(found.first)];
        if (!owner.owned().contains(found.major) || owner.entries() == 0)
            wrong("is not owned by the first of them");
        if (!ranges[as_size(found.last)].start_flag) wrong("doesn't go on in the last of them");
        for (int k = found.first + 1; k <= found.last; ++k) {
            const major_range& range = ranges[as_size(k)];
            if (range.entries() == 0) continue;
            if (!range.start_flag || range.start_major != found.major)
                wrong("is not the first " + std::string(major) + " of range " + to_string(k));
            ++counted;
        }
    }
    if (counted != flagged)
        throw usage_error("pcsr: shared " + std::string(major) + "s go on in " +
                          to_string(counted) + " ranges, must go on in " + to_string(flagged));
}

} // namespace

void check(const pcsr& partition, std::span<const std::int64_t> offsets, const char* major) {
    if (offsets.empty())
        throw usage_error(std::string("pcsr: offsets has 0 numbers, must have one more than ") +
                          major + "s");
    const std::vector<major_range>& ranges = partition.ranges;
    check_chain(ranges, static_cast<std::int64_t>(offsets.size()) - 1, offsets.back(), major);
    for (std::size_t k = 0; k < ranges.size(); ++k) {
        const major_range& range = ranges[k];
        const std::int64_t begin = offsets[as_size(range.start_major)];
        const std::int64_t end = offsets[as_size(range.end_major)];
        const std::string first = name_of(major, range.start_major);
        if (range.entries() == 0 && begin != end)
            refuse_range(k, "has no entries, but owns " + to_string(end - begin) + " from " +
                                first + " on");
        if (range.entries() == 0) continue;
        if (range.start_flag && (begin >= range.start_idx ||
                                 offsets[as_size(range.start_major + 1)] <= range.start_idx))
            refuse_range(k, "has start_flag, but at entry " + to_string(range.start_idx) + " " +
                                first + ", of entries " + to_string(begin) + " to " +
                                to_string(offsets[as_size(range.start_major + 1)]) +
                                ", doesn't go on");
        if (!range.start_flag && begin != range.start_idx)
            refuse_range(k, "begins at entry " + to_string(range.start_idx) + ", but " + first +
                                " begins at " + to_string(begin));
        if (end < range.end_idx)
            refuse_range(k, "ends at entry " + to_string(range.end_idx) + ", but its last " +
                                major + " ends at " + to_string(end));
    }
    check_shared(partition, major);
}

void check(const pcsr& partition, std::int64_t majors, std::span<const std::int32_t> major_of,
           const char* major) {
    for (std::size_t i = 0; i < major_of.size(); ++i) {
        if (major_of[i] < 0 || major_of[i] >= majors)
            throw input_error("pcsr: entry " + to_string(i) + " is in " +
                              name_of(major, major_of[i]) + ", must be 0 or more and below " +
                              to_string(majors));
        if (i > 0 && major_of[i] < major_of[i - 1])
            throw input_error("pcsr: entry " + to_string(i) + " is in " +
                              name_of(major, major_of[i]) + ", must not be before that of entry " +
                              to_string(i - 1) + ", " + to_string(major_of[i - 1]));
    }
    const std::vector<major_range>& ranges = partition.ranges;
    check_chain(ranges, majors, static_cast<std::int64_t>(major_of.size()), major);
    for (std::size_t k = 0; k < ranges.size(); ++k) {
        const major_range& range = ranges[k];
        if (range.entries() == 0) continue;
        const std::int64_t first = major_of[as_size(range.start_idx)];
        const std::int64_t last = major_of[as_size(range.end_idx - 1)];
        const bool goes_on = range.start_idx > 0 && major_of[as_size(range.start_idx - 1)] == first;
        if (range.start_flag != goes_on)
            refuse_range(k, std::string("has ") + (range.start_flag ? "" : "no ") +
                                "start_flag, but " + name_of(major, first) +
                                (goes_on ? " goes on" : " begins") + " at its first entry");
        if (first < range.start_major || last >= range.end_major ||
            (goes_on && first != range.start_major))
            refuse_range(k, std::string("has entries of ") + major + "s " + to_string(first) +
                                " to " + to_string(last) + ", which must be among " +
                                to_string(range.start_major) + " to " +
                                to_string(range.end_major - 1));
    }
    check_shared(partition, major);
}

} // namespace krylith
