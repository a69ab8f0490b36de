// Reading entry lines: blocks of lines are cut into pieces, which the OpenMP threads read in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include <krylith/matrix/index_width.hpp>
#include <krylith/matrix/market/header.hpp>
#include <krylith/matrix/market/line_source.hpp>
#include <krylith/matrix/market/number.hpp>

namespace krylith::market {

/// The lines of a block that one thread reads.
struct piece {
    const char* begin = nullptr;
    const char* end = nullptr;
    std::int64_t lines = 0;
    std::int64_t entries = 0;
    std::int64_t lines_before = 0;   ///< in the file
    std::int64_t entries_before = 0; ///< in the file
    const char* flawed_line = nullptr;
    std::int64_t flawed_line_number = 0;
    reading flawed{};
    std::exception_ptr failure; ///< may not leave the parallel loop by itself
};

/// The beginning of the line after the one that p is in.
[[nodiscard]] const char* next_line(const char* p, const char* end);

/// Neither blank nor a comment; p is behind the line's leading blanks.
[[nodiscard]] inline bool is_entry(const char* p, const char* end) {
    return !at_line_end(p, end) && *p != '%';
}

/// The next block of the source, cut into pieces of whole lines whose entries are counted; empty at
/// the end. `lines` and `entries` are those before it, and are advanced. Refuses NUL bytes.
[[nodiscard]] std::vector<piece> next_pieces(line_source& source, std::int64_t& lines,
                                             std::int64_t& entries);

/// Throws what went wrong first, if anything. `largest`: see in_words.
void refuse_flaws(const line_source& source, const header& h, const std::vector<piece>& pieces,
                  double largest);

/// Throws if the file ended, after `lines` lines, with fewer entries than it declares.
void refuse_missing(const line_source& source, const header& h, std::int64_t lines,
                    std::int64_t entries);

/// Gives each entry line of the piece to read_entry(begin of text, end, position of the entry),
/// which returns a reading. Stops at the first flaw, or after `most` entries of the file.
template <class ReadEntry>
void read_entries(piece& lines, std::int64_t most, const ReadEntry& read_entry) {
    std::int64_t line = lines.lines_before;
    std::int64_t entry = lines.entries_before;
    for (const char* p = lines.begin; p != lines.end; p = next_line(p, lines.end)) {
        const char* const begin = p;
        ++line;
        p = skip_blanks(p, lines.end);
        if (!is_entry(p, lines.end)) {
            continue;
        }
        reading result{p, flaw::one_too_many};
        if (entry < most) {
            result = read_entry(p, lines.end, entry);
            p = skip_blanks(result.at, lines.end);
            if (result.flaw == flaw::none && !at_line_end(p, lines.end)) {
                result = {p, flaw::trailing_text};
            }
        }
        if (result.flaw != flaw::none) {
            lines.flawed = result;
            lines.flawed_line = begin;
            lines.flawed_line_number = line;
            return;
        }
        ++entry;
    }
}

/// Reads the entries to the end of the source. Before those of a block are read, make_room(n) is
/// called with the number of entries so far, theirs included, at most the declared number.
/// read_entry: see read_entries; it runs on several threads, on different entries.
template <class MakeRoom, class ReadEntry>
void read_entry_lines(line_source& source, const header& h, double largest,
                      const MakeRoom& make_room, const ReadEntry& read_entry) {
    std::int64_t lines = source.lines_taken();
    std::int64_t entries = 0;
    for (;;) {
        std::vector<piece> pieces = next_pieces(source, lines, entries);
        if (pieces.empty()) {
            break;
        }
        make_room(std::min(entries, h.entries));
        const auto count = static_cast<std::int64_t>(pieces.size());
#pragma omp parallel for schedule(dynamic) if (count > 1)
        for (std::int64_t k = 0; k < count; ++k) {
            try {
                read_entries(pieces[as_size(k)], h.entries, read_entry);
            } catch (...) {
                pieces[as_size(k)].failure = std::current_exception();
            }
        }
        refuse_flaws(source, h, pieces, largest);
    }
    refuse_missing(source, h, lines, entries);
}

} // namespace krylith::market
