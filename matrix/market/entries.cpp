#include <krylith/matrix/market/entries.hpp>

#include <algorithm>
#include <limits>
#include <string_view>

#include <krylith/matrix/index_width.hpp>
#include <krylith/matrix/market/entry_lines.hpp>
#include <krylith/matrix/market/flaw.hpp>
#include <krylith/matrix/market/number.hpp>

namespace krylith::market {
namespace {

/// The text left can't hold more entries than this: an entry takes at least `least` bytes.
std::int64_t plausible_entries(const line_source& source, const header& h, std::int64_t least) {
    return std::min(h.entries, source.expected_bytes_left() / least + 1);
}

/// Resizes to n; capacity doubles, but never beyond what is declared.
template <class V>
void grow(std::vector<V>& entries, std::int64_t n, std::int64_t declared) {
    if (as_size(n) > entries.capacity()) {
        const auto doubled = static_cast<std::int64_t>(2 * entries.capacity());
        entries.reserve(as_size(std::min(declared, std::max(n, doubled))));
    }
    entries.resize(as_size(n));
}

/// Reads "ROW COLUMN VALUE" at p.
template <class T>
reading read_coordinate(const char* p, const char* end, const header& h, std::int32_t& row,
                        std::int32_t& column, T& value) {
    if (!read_index(p, end, h.rows, row)) {
        return {p, flaw::bad_row};
    }
    p = skip_blanks(p, end);
    if (!read_index(p, end, h.columns, column)) {
        return {p, flaw::bad_column};
    }
    p = skip_blanks(p, end);
    const reading result = read_value(p, end, h.field, value);
    if (h.symmetry == symmetry::skew_symmetric && row == column && result.flaw == flaw::none &&
        value != T(0)) {
        return {p, flaw::skew_diagonal};
    }
    return result;
}

} // namespace

template <class T>
coo_matrix<T> read_coordinates(line_source& source, const header& h) {
    coo_matrix<T> coo;
    coo.rows = h.rows;
    coo.columns = h.columns;
    const std::int64_t plausible = plausible_entries(source, h, 4); // "1 1" and a line feed
    coo.row_indices.reserve(as_size(plausible));
    coo.column_indices.reserve(as_size(plausible));
    coo.values.reserve(as_size(plausible));
    const auto make_room = [&](std::int64_t n) {
        grow(coo.row_indices, n, h.entries);
        grow(coo.column_indices, n, h.entries);
        grow(coo.values, n, h.entries);
    };
    const auto read_entry = [&](const char* p, const char* end, std::int64_t k) {
        return read_coordinate(p, end, h, coo.row_indices[as_size(k)],
                               coo.column_indices[as_size(k)], coo.values[as_size(k)]);
    };
    read_entry_lines(source, h, std::numeric_limits<T>::max(), make_room, read_entry);
    return coo;
}

template <class T>
std::vector<T> read_array(line_source& source, const header& h) {
    std::vector<T> values;
    values.reserve(as_size(plausible_entries(source, h, 2))); // "1" and a line feed
    const auto make_room = [&](std::int64_t n) { grow(values, n, h.entries); };
    const auto read_entry = [&](const char* p, const char* end, std::int64_t k) {
        return read_value(p, end, h.field, values[as_size(k)]);
    };
    read_entry_lines(source, h, std::numeric_limits<T>::max(), make_room, read_entry);
    return values;
}

std::int64_t line_of_entry(line_source& source, const header& h, std::int64_t row,
                           std::int64_t column) {
    if (!source.rewind()) {
        return 0;
    }
    std::string_view line;
    while (source.take_line(line)) {
        const char* const end = line.data() + line.size();
        const char* const p = skip_blanks(line.data(), end);
        std::int32_t i = 0;
        std::int32_t j = 0;
        double value = 0;
        if (source.lines_taken() > h.size_line && is_entry(p, end) &&
            read_coordinate(p, end, h, i, j, value).flaw == flaw::none && i == row && j == column) {
            return source.lines_taken();
        }
    }
    return 0;
}

template coo_matrix<double> read_coordinates(line_source&, const header&);
template coo_matrix<float> read_coordinates(line_source&, const header&);
template std::vector<double> read_array(line_source&, const header&);
template std::vector<float> read_array(line_source&, const header&);

} // namespace krylith::market
