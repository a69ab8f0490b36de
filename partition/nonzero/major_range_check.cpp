// The checkers of shares, which have no code in common with what makes them.
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/nonzero/major_range.hpp>

namespace krylith {

namespace {

using std::to_string;

[[noreturn]] void refuse(std::size_t part, const std::string& what) {
    throw usage_error("line_share: part " + to_string(part) + " " + what);
}

/// "row 5"
std::string name_of(const char* line, std::int64_t number) {
    std::string name = line;
    name += ' ';
    return name += to_string(number);
}

void check_entries(std::span<const line_share> shares, std::int64_t entries) {
    if (shares.empty()) throw usage_error("line_share: there are 0 parts, must be at least 1");
    std::int64_t next = 0;
    for (std::size_t k = 0; k < shares.size(); ++k) {
        if (shares[k].start_idx != next)
            refuse(k, "begins at entry " + to_string(shares[k].start_idx) + ", must begin at " +
                          to_string(next));
        if (shares[k].end_idx < next)
            refuse(k, "ends at entry " + to_string(shares[k].end_idx) + ", before it begins, at " +
                          to_string(next));
        next = shares[k].end_idx;
    }
    if (next != entries)
        refuse(shares.size() - 1, "ends at entry " + to_string(next) +
                                      ", must end at the number of entries, " + to_string(entries));
}

void check_range(std::span<const std::int32_t> line_of, std::int64_t lines, const char* line) {
    for (std::size_t i = 0; i < line_of.size(); ++i)
        if (line_of[i] < 0 || line_of[i] >= lines)
            throw input_error("line_share: entry " + to_string(i) + " is in " + line + " " +
                              to_string(line_of[i]) + ", must be 0 or more and below " +
                              to_string(lines));
}

} // namespace

void check_chain(std::span<const line_share> shares, std::int64_t lines, std::int64_t entries,
                 const char* line) {
    check_entries(shares, entries);
    std::int64_t next = 0;
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const line_share& share = shares[k];
        const row_range owned = share.owned();
        if (share.start_flag && share.entries() == 0) refuse(k, "has start_flag but no entries");
        if (owned.begin != next || share.start_line < 0)
            refuse(k, std::string("owns the ") + line + "s from " + to_string(owned.begin) +
                          " on, must own them from " + to_string(next) + " on");
        if (owned.end < next)
            refuse(k, std::string("ends at ") + line + " " + to_string(owned.end) +
                          ", before those that it owns begin, at " + to_string(next));
        next = owned.end;
    }
    if (next != lines)
        refuse(shares.size() - 1, std::string("ends at ") + line + " " + to_string(next) +
                                      ", must end at their number, " + to_string(lines));
}

void check(std::span<const line_share> shares, std::span<const std::int64_t> offsets,
           const char* line) {
    if (offsets.empty())
        throw usage_error("line_share: offsets has 0 numbers, must have lines + 1");
    check_chain(shares, static_cast<std::int64_t>(offsets.size()) - 1, offsets.back(), line);
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const line_share& share = shares[k];
        const std::int64_t begin = offsets[as_size(share.start_line)];
        const std::int64_t end = offsets[as_size(share.end_line)];
        const std::string first = name_of(line, share.start_line);
        if (share.entries() == 0 && begin != end)
            refuse(k,
                   "has no entries, but owns " + to_string(end - begin) + " from " + first + " on");
        if (share.entries() == 0) continue;
        if (share.start_flag &&
            (begin >= share.start_idx || offsets[as_size(share.start_line + 1)] <= share.start_idx))
            refuse(k, "has start_flag, but at entry " + to_string(share.start_idx) + " " + first +
                          ", of entries " + to_string(begin) + " to " +
                          to_string(offsets[as_size(share.start_line + 1)]) + ", doesn't go on");
        if (!share.start_flag && begin != share.start_idx)
            refuse(k, "begins at entry " + to_string(share.start_idx) + ", but " + first +
                          " begins at " + to_string(begin));
        if (end < share.end_idx)
            refuse(k, "ends at entry " + to_string(share.end_idx) + ", but its last " + line +
                          " ends at " + to_string(end));
    }
}

void check_sorted(std::span<const line_share> shares, std::int64_t lines,
                  std::span<const std::int32_t> line_of, const char* line) {
    check_range(line_of, lines, line);
    for (std::size_t i = 1; i < line_of.size(); ++i)
        if (line_of[i] < line_of[i - 1])
            throw input_error("line_share: entry " + to_string(i) + " is in " + line + " " +
                              to_string(line_of[i]) + ", must not be before that of entry " +
                              to_string(i - 1) + ", " + to_string(line_of[i - 1]));
    check_chain(shares, lines, static_cast<std::int64_t>(line_of.size()), line);
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const line_share& share = shares[k];
        if (share.entries() == 0) continue;
        const std::int64_t first = line_of[as_size(share.start_idx)];
        const std::int64_t last = line_of[as_size(share.end_idx - 1)];
        const bool goes_on = share.start_idx > 0 && line_of[as_size(share.start_idx - 1)] == first;
        if (share.start_flag != goes_on)
            refuse(k, std::string("has ") + (share.start_flag ? "" : "no ") + "start_flag, but " +
                          name_of(line, first) + (goes_on ? " goes on" : " begins") +
                          " at its first entry");
        if (first < share.start_line || last >= share.end_line ||
            (goes_on && first != share.start_line))
            refuse(k, std::string("has entries of ") + line + "s " + to_string(first) + " to " +
                          to_string(last) + ", which must be among " + to_string(share.start_line) +
                          " to " + to_string(share.end_line - 1));
    }
}

void check_unsorted(std::span<const line_share> shares, std::int64_t lines,
                    std::span<const std::int32_t> line_of, const char* line) {
    check_range(line_of, lines, line);
    check_entries(shares, static_cast<std::int64_t>(line_of.size()));
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const line_share& share = shares[k];
        if (share.start_flag) refuse(k, "has start_flag, which unsorted entries don't have");
        std::int64_t least = share.entries() == 0 ? 0 : lines;
        std::int64_t end = 0;
        for (std::int64_t i = share.start_idx; i < share.end_idx; ++i) {
            if (line_of[as_size(i)] < least) least = line_of[as_size(i)];
            if (line_of[as_size(i)] >= end) end = line_of[as_size(i)] + 1;
        }
        if (share.start_line != least || share.end_line != end)
            refuse(k, std::string("has the ") + line + "s from " + to_string(share.start_line) +
                          " to below " + to_string(share.end_line) + ", its entries are from " +
                          to_string(least) + " to below " + to_string(end));
    }
}

} // namespace krylith
