// A block of entry lines, and what a thread reads from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/number.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::market {

/// The entries of some whole lines, up to the first flaw.
template <class T>
struct entry_block {
    std::string storage;    ///< where the text may lie
    std::string_view text;  ///< whole lines
    std::string unreadable; ///< why there is no text, if so

    std::vector<std::int32_t> rows;    ///< the first `entries`; empty for an array
    std::vector<std::int32_t> columns; ///< like rows
    std::vector<T> values;             ///< the first `entries`
    std::int64_t entries = 0;
    tally counts;
    std::int64_t lines = 0; ///< read, the flawed one included
    reading flawed{};       ///< if its flaw isn't `none`, the line at flawed_line has it
    const char* flawed_line = nullptr;
};

/// Returns the beginning of the line after the one that p is in.
[[nodiscard]] inline const char* next_line(const char* p, const char* end) {
    const void* feed = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    return feed == nullptr ? end : static_cast<const char*>(feed) + 1;
}

/// Reads "ROW COLUMN VALUE" at p.
template <class T>
[[nodiscard]] inline reading read_coordinate(const char* p, const char* end, const header& h,
                                             std::int32_t& row, std::int32_t& column, T& value,
                                             tally& counts) {
    if (!read_index(p, end, h.first_index, h.rows, row)) {
        return {p, flaw::bad_row};
    }
    p = skip_blanks(p, end);
    if (!read_index(p, end, h.first_index, h.columns, column)) {
        return {p, flaw::bad_column};
    }
    p = skip_blanks(p, end);
    const reading result = read_value(p, end, h.field, value, counts);
    if (h.symmetry == symmetry::skew_symmetric && row == column && result.flaw == flaw::none &&
        value != T(0)) {
        return {p, flaw::skew_diagonal};
    }
    return result;
}

/// Reads the lines of block.text; blank ones are skipped. Allocates at most one entry a line feed.
template <class T>
void read_lines(entry_block<T>& block, const header& h) {
    const char* p = block.text.data();
    const char* const end = p + block.text.size();
    const bool coordinates = h.layout == layout::coordinate;
    const auto most = static_cast<std::size_t>(std::count(p, end, '\n') + 1);
    if (block.values.size() < most) {
        block.values.resize(most);
        block.rows.resize(coordinates ? most : 0);
        block.columns.resize(coordinates ? most : 0);
    }
    block.entries = 0;
    block.lines = 0;
    block.counts = {};
    block.flawed = {};
    while (p != end) {
        const char* const begin = p;
        ++block.lines;
        p = skip_blanks(p, end);
        if (!at_line_end(p, end)) {
            const auto k = as_size(block.entries);
            reading result = *p == '%' ? reading{p, flaw::comment}
                             : coordinates
                                 ? read_coordinate(p, end, h, block.rows[k], block.columns[k],
                                                   block.values[k], block.counts)
                                 : read_value(p, end, h.field, block.values[k], block.counts);
            p = skip_blanks(result.at, end);
            if (result.flaw == flaw::none && !at_line_end(p, end)) {
                result = {p, flaw::trailing_text};
            }
            if (result.flaw != flaw::none) {
                block.flawed = result;
                block.flawed_line = begin;
                return;
            }
            ++block.entries;
        }
        p += p != end && *p == '\r';
        p += p != end;
    }
}

} // namespace krylith::market
