#include <krylith/matrix/rutherford_boeing/sections.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <omp.h>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/market/diagnosis.hpp>
#include <krylith/matrix/market/ordered_blocks.hpp>
#include <krylith/matrix/rutherford_boeing/field_numbers.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::rutherford_boeing {
namespace {

/// A stretch of whole lines.
struct line_block {
    std::string storage;
    std::string_view text;
    std::string unreadable;
    std::int64_t first = 0; ///< its first line, counted from the first behind the header
    std::vector<std::string_view> fields; ///< of the line at hand
};

template <class T>
class section_reader {
public:
    section_reader(market::line_source& source, const header& h)
        : source_(source), header_(h), header_lines_(source.lines_taken()) {
        matrix_.rows = h.columns;
        matrix_.columns = h.rows;
        matrix_.row_offsets.clear();
        resize_in_parallel(matrix_.row_offsets, as_size(h.columns) + 1);
        resize_in_parallel(matrix_.column_indices, as_size(h.entries));
        resize_in_parallel(matrix_.values, as_size(h.entries));
        if (h.values_are == value_kind::pattern) {
            std::ranges::fill(matrix_.values, T(1));
        }
    }

    csr_matrix<T> read() {
        const std::int64_t blocks = source_.expected_bytes_left() / source_.block_bytes() + 1;
        const auto threads = static_cast<int>(
            std::min({blocks, std::int64_t{16}, std::int64_t{omp_get_max_threads()}}));
        market::for_blocks_in_order<line_block>(
            threads, [&](line_block& block) { return take(block); },
            [&](line_block& block) { read_block(block); }, [](const line_block&) {});
        if (taken_ < all_lines()) {
            market::refuse(source_.name(), header_lines_ + taken_,
                           "the file ends after " + std::to_string(taken_) +
                               " lines of numbers, allowed are the " + std::to_string(all_lines()) +
                               " that its sizes and formats need");
        }
        return std::move(matrix_);
    }

private:
    [[nodiscard]] std::int64_t all_lines() const {
        return header_.pointers.lines() + header_.indices.lines() + header_.values.lines();
    }

    bool take(line_block& block) {
        if (taken_ >= all_lines()) {
            return false;
        }
        block.first = taken_;
        try {
            if (!source_.take_block(block.storage, block.text)) {
                return false;
            }
        } catch (const market::unreadable& e) {
            block.text = {};
            block.unreadable = e.what();
            taken_ = all_lines();
            return true;
        }
        taken_ += std::ranges::count(block.text, '\n') + (block.text.ends_with('\n') ? 0 : 1);
        return true;
    }

    void read_block(line_block& block) {
        if (!block.unreadable.empty()) {
            market::refuse(source_.name(), header_lines_ + block.first + 1, block.unreadable);
        }
        std::string_view rest = block.text;
        for (std::int64_t line = block.first; !rest.empty() && line < all_lines(); ++line) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            std::string_view text = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            if (text.ends_with('\r')) {
                text.remove_suffix(1);
            }
            read_line(line, text, block.fields);
        }
    }

    void read_line(std::int64_t line, std::string_view text,
                   std::vector<std::string_view>& fields) {
        const std::int64_t indices = line - header_.pointers.lines();
        const std::int64_t values = indices - header_.indices.lines();
        if (indices < 0) {
            const std::int64_t most = header_.entries + 1;
            read_fields(
                header_.pointers, line, line, text, fields, [&](std::int64_t k, auto field) {
                    std::int64_t pointer = 0;
                    const bool good = read_whole(field, most, pointer);
                    matrix_.row_offsets[as_size(k)] = pointer - 1;
                    return good ? std::string() : refusal("column pointer", "whole numbers", most);
                });
        } else if (values < 0) {
            read_fields(
                header_.indices, line, indices, text, fields, [&](std::int64_t k, auto field) {
                    std::int64_t row = 0;
                    const bool good = read_whole(field, header_.rows, row);
                    matrix_.column_indices[as_size(k)] =
                        static_cast<std::int32_t>(good ? row - 1 : 0);
                    return good ? std::string() : refusal("row", "whole numbers", header_.rows);
                });
        } else {
            read_fields(
                header_.values, line, values, text, fields, [&](std::int64_t k, auto field) {
                    return read_real(field, header_.values.format, matrix_.values[as_size(k)])
                               ? std::string()
                               : std::string("value|finite decimal numbers of this precision");
                });
        }
    }

    /// "NAME|WHAT IS ALLOWED".
    static std::string refusal(const char* name, const char* kind, std::int64_t most) {
        return std::string(name) + "|" + kind + " from 1 to " + std::to_string(most);
    }

    /// Gives the fields of line `at` of a section to use(k, text), which returns what is wrong.
    template <class Use>
    void read_fields(const section& part, std::int64_t line, std::int64_t at, std::string_view text,
                     std::vector<std::string_view>& fields, const Use& use) const {
        const std::int64_t first = at * part.a_line();
        const std::int64_t count = std::min(part.a_line(), part.count - first);
        split_line(text, part.format, as_size(count), fields);
        for (std::int64_t k = 0; k < count; ++k) {
            const std::string_view field = fields[as_size(k)];
            const std::string wrong = use(first + k, field);
            if (wrong.empty()) {
                continue;
            }
            const std::size_t bar = wrong.find('|');
            market::refuse(source_.name(), header_lines_ + line + 1,
                           "at character " + std::to_string(field.data() - text.data() + 1) +
                               " the " + wrong.substr(0, bar) + " is " + market::quoted(field) +
                               ", allowed are " + wrong.substr(bar + 1));
        }
    }

    market::line_source& source_;
    const header& header_;
    std::int64_t header_lines_;
    std::int64_t taken_ = 0; ///< lines behind the header
    csr_matrix<T> matrix_;
};

} // namespace

template <class T>
csr_matrix<T> read_sections(market::line_source& source, const header& h) {
    return section_reader<T>(source, h).read();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> read_sections(market::line_source&, const header&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::rutherford_boeing
