#include <krylith/matrix/market/entry_lines.hpp>

#include <cstddef>
#include <cstring>
#include <string>

#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/flaw.hpp>

namespace krylith::market {
namespace {

std::vector<piece> split(std::string_view block) {
    constexpr std::ptrdiff_t piece_bytes = 1 << 18;
    std::vector<piece> pieces;
    const char* const end = block.data() + block.size();
    for (const char* p = block.data(); p != end;) {
        piece next;
        next.begin = p;
        next.end = end - p <= piece_bytes ? end : next_line(p + piece_bytes, end);
        p = next.end;
        pieces.push_back(next);
    }
    return pieces;
}

void count_lines(piece& lines) {
    for (const char* p = lines.begin; p != lines.end; p = next_line(p, lines.end)) {
        ++lines.lines;
        lines.entries += is_entry(skip_blanks(p, lines.end), lines.end);
    }
}

std::string_view trimmed_line(const char* begin, const char* end) {
    const char* p = skip_blanks(begin, end);
    const char* stop = p;
    while (!at_line_end(stop, end)) {
        ++stop;
    }
    while (stop != p && is_blank(stop[-1])) {
        --stop;
    }
    return {p, static_cast<std::size_t>(stop - p)};
}

void refuse_nul(const line_source& source, std::string_view block, std::int64_t lines_before) {
    const std::size_t nul = block.find('\0');
    if (nul == std::string_view::npos) {
        return;
    }
    const std::size_t feed = block.substr(0, nul).rfind('\n');
    const char* const begin = block.data() + (feed == std::string_view::npos ? 0 : feed + 1);
    refuse(source.name(), lines_before + 1 + std::count(block.data(), begin, '\n'),
           "a NUL byte in " + quoted(trimmed_line(begin, block.data() + block.size())) +
               ", allowed is text");
}

} // namespace

const char* next_line(const char* p, const char* end) {
    const void* feed = std::memchr(p, '\n', as_size(end - p));
    return feed == nullptr ? end : static_cast<const char*>(feed) + 1;
}

std::vector<piece> next_pieces(line_source& source, std::int64_t& lines, std::int64_t& entries) {
    const std::string_view block = source.take_block();
    if (block.empty()) {
        return {};
    }
    refuse_nul(source, block, lines);
    std::vector<piece> pieces = split(block);
    const auto count = static_cast<std::int64_t>(pieces.size());
#pragma omp parallel for schedule(dynamic) if (count > 1)
    for (std::int64_t k = 0; k < count; ++k) {
        count_lines(pieces[as_size(k)]);
    }
    for (piece& p : pieces) {
        p.lines_before = lines;
        p.entries_before = entries;
        lines += p.lines;
        entries += p.entries;
    }
    return pieces;
}

void refuse_flaws(const line_source& source, const header& h, const std::vector<piece>& pieces,
                  double largest) {
    for (const piece& p : pieces) {
        if (p.failure) {
            std::rethrow_exception(p.failure);
        }
        if (p.flawed.flaw != flaw::none) {
            const char* const at = p.flawed.at;
            const auto length = static_cast<std::size_t>(word_end(at, p.end) - at);
            refuse(source.name(), p.flawed_line_number,
                   "in " + quoted(trimmed_line(p.flawed_line, p.end)) + " " +
                       in_words(p.flawed.flaw, {at, length}, h, largest));
        }
    }
}

void refuse_missing(const line_source& source, const header& h, std::int64_t lines,
                    std::int64_t entries) {
    if (entries < h.entries) {
        refuse(source.name(), lines,
               "the file ends after " + std::to_string(entries) + " entries, allowed are the " +
                   std::to_string(h.entries) + " of the size line (line " +
                   std::to_string(h.size_line) + ")");
    }
}

} // namespace krylith::market
