#include <krylith/matrix/market/entries.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <omp.h>

#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/entry_block.hpp>
#include <krylith/matrix/market/flaw.hpp>
#include <krylith/matrix/market/ordered_blocks.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::market {
namespace {

/// The number of threads that read. Taking and using blocks is one thread's work at a time: some 3
/// GB/s.
int reading_threads(const line_source& source) {
    constexpr std::int64_t most = 16;
    const std::int64_t blocks = source.expected_bytes_left() / source.block_bytes() + 1;
    return static_cast<int>(std::min({blocks, most, std::int64_t{omp_get_max_threads()}}));
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

/// What becomes of the entries.
enum class collecting {
    all,    ///< they are kept
    part,   ///< the same, but it isn't known how many stand before them
    nothing ///< they are only looked at
};

/// Ends the reading of a part.
struct flawed_part {};

/// Collects the blocks of a file, in its order.
template <class T>
class collector {
public:
    collector(const line_source& source, const header& h, const memory_limit& limit, tally& counts,
              collecting what)
        : source_(source),
          header_(h),
          limit_(limit),
          counts_(counts),
          what_(what),
          lines_(source.lines_taken()) {
        coo_.rows = h.rows;
        coo_.columns = h.columns;
        if (what == collecting::nothing) return;
        // No entries are shorter than "1 1 1", "1 1" and "1", and their line feeds.
        const std::int64_t least = !coordinates() ? 2 : h.field == field::pattern ? 4 : 6;
        make_room(std::min(h.entries, source.expected_bytes_left() / least + 1));
    }

    void add(const entry_block<T>& block) {
        if (what_ == collecting::part &&
            (!block.unreadable.empty() || block.flawed.flaw != flaw::none ||
             entries_ + block.entries > header_.entries)) {
            throw flawed_part();
        }
        if (!block.unreadable.empty()) {
            refuse(source_.name(), lines_ + 1, block.unreadable);
        }
        if (at_vectors_) {
            return;
        }
        // The lines of a vector have one number, or the comment before it.
        at_vectors_ = header_.vectors_follow && block.flawed.flaw != flaw::none &&
                      entries_ + block.entries == header_.entries;
        if (!at_vectors_) {
            refuse_flaws(block);
        }
        entries_ += block.entries;
        counts_ += block.counts;
        lines_ += block.lines;
        if (what_ == collecting::nothing) return;
        make_room(entries_);
        const auto append = [&](auto& all, const auto& part) {
            all.insert(all.end(), part.begin(), part.begin() + block.entries);
        };
        append(coo_.values, block.values);
        if (coordinates()) {
            append(coo_.row_indices, block.rows);
            append(coo_.column_indices, block.columns);
        }
    }

    coo_matrix<T> finish() {
        if (what_ != collecting::part && entries_ < header_.entries) {
            refuse(source_.name(), lines_,
                   "the file ends after " + std::to_string(entries_) +
                       " entries, allowed are the " + std::to_string(header_.entries) +
                       " of the size line (line " + std::to_string(header_.size_line) + ")");
        }
        return std::move(coo_);
    }

private:
    [[nodiscard]] bool coordinates() const { return header_.layout == layout::coordinate; }

    /// Makes room for n entries. Capacity doubles, but never beyond what is declared.
    void make_room(std::int64_t n) {
        const auto capacity = static_cast<std::int64_t>(coo_.values.capacity());
        if (n <= capacity) {
            return;
        }
        const std::int64_t grown = std::min(header_.entries, std::max(n, 2 * capacity));
        const double each = sizeof(T) + (coordinates() ? 2 * sizeof(std::int32_t) : 0);
        limit_.check(each * static_cast<double>(capacity), each * static_cast<double>(grown));
        coo_.values.reserve(as_size(grown));
        coo_.row_indices.reserve(coordinates() ? as_size(grown) : 0);
        coo_.column_indices.reserve(coordinates() ? as_size(grown) : 0);
    }

    void refuse_flaws(const entry_block<T>& block) const {
        const std::int64_t missing = header_.entries - entries_;
        const bool flawed = block.flawed.flaw != flaw::none;
        if (block.entries > missing) {
            refuse_surplus(block, missing);
        }
        if (flawed) {
            const bool surplus = block.entries == missing && block.flawed.flaw != flaw::comment;
            refuse_line(block, lines_ + block.lines, block.flawed_line,
                        surplus ? flaw::one_too_many : block.flawed.flaw, block.flawed.at);
        }
    }

    [[noreturn]] void refuse_surplus(const entry_block<T>& block, std::int64_t missing) const {
        const char* p = block.text.data();
        const char* const end = p + block.text.size();
        std::int64_t line = lines_ + 1;
        for (;; p = next_line(p, end), ++line) {
            const bool blank = at_line_end(skip_blanks(p, end), end);
            if (!blank && missing-- == 0) {
                refuse_line(block, line, p, flaw::one_too_many, p);
            }
        }
    }

    [[noreturn]] void refuse_line(const entry_block<T>& block, std::int64_t number,
                                  const char* line, flaw what, const char* at) const {
        const char* const end = block.text.data() + block.text.size();
        const std::string_view text = trimmed_line(line, end);
        if (text.find('\0') != std::string_view::npos) {
            what = flaw::nul;
        }
        const auto length = static_cast<std::size_t>(word_end(at, end) - at);
        refuse(source_.name(), number,
               "in " + quoted(text) + " " +
                   in_words(what, {at, length}, header_,
                            static_cast<double>(std::numeric_limits<T>::max())));
    }

    const line_source& source_;
    const header& header_;
    const memory_limit& limit_;
    tally& counts_;
    collecting what_;
    std::int64_t entries_ = 0;
    std::int64_t lines_;      ///< lines before the next block
    bool at_vectors_ = false; ///< behind the entries, where header::vectors_follow
    coo_matrix<T> coo_;
};

template <class T>
coo_matrix<T> collect(line_source& source, const header& h, const memory_limit& limit,
                      tally& counts, collecting what) {
    collector<T> all(source, h, limit, counts, what);
    for_blocks_in_order<entry_block<T>>(
        reading_threads(source),
        [&](entry_block<T>& block) {
            try {
                return source.take_block(block.storage, block.text);
            } catch (const unreadable& e) { // its line is known when its block is used
                block.text = {};
                block.unreadable = e.what();
                return true;
            }
        },
        [&](entry_block<T>& block) { read_lines(block, h); },
        [&](entry_block<T>& block) { all.add(block); });
    return all.finish();
}

} // namespace

template <class T>
coo_matrix<T> read_entries(line_source& source, const header& h, const memory_limit& limit,
                           tally& counts) {
    return collect<T>(source, h, limit, counts, collecting::all);
}

template <class T>
std::optional<coo_matrix<T>> read_part(line_source& part, const header& h,
                                       const memory_limit& limit, tally& counts) {
    try {
        return collect<T>(part, h, limit, counts, collecting::part);
    } catch (const flawed_part&) {
        return std::nullopt;
    }
}

template <class T>
void find_flaw(line_source& source, const header& h) {
    tally uncounted;
    (void)collect<T>(source, h, memory_limit(source, h, 0), uncounted, collecting::nothing);
}

std::int64_t line_of_entry(line_source& source, const header& h, std::int64_t row,
                           std::int64_t column) {
    source.rewind();
    std::string_view line;
    while (source.take_line(line)) {
        const char* const end = line.data() + line.size();
        std::int32_t i = 0;
        std::int32_t j = 0;
        double value = 0;
        tally uncounted;
        if (source.lines_taken() > h.size_line &&
            read_coordinate(skip_blanks(line.data(), end), end, h, i, j, value, uncounted).flaw ==
                flaw::none &&
            i == row && j == column) {
            return source.lines_taken();
        }
    }
    return 0;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template coo_matrix<T> read_entries(line_source&, const header&, const memory_limit&, tally&); \
    template std::optional<coo_matrix<T>> read_part(line_source&, const header&,                   \
                                                    const memory_limit&, tally&);                  \
    template void find_flaw<T>(line_source&, const header&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::market
