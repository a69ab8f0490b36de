#include <krylith/matrix/numpy/open_array.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/input_checks.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::numpy {

open_array open_file(files::input_file& file) {
    open_array array;
    array.bytes = file.bytes();
    array.header = read_array_header(array.bytes, "the array");
    return array;
}

std::int64_t vector_entries(const open_array& array, const std::string& file) {
    const auto& shape = array.header.shape;
    const auto long_ones = std::ranges::count_if(shape, [](auto size) { return size != 1; });
    if (shape.size() > 2 || long_ones > 1) {
        throw input_error(file + ": " + array.header.name + " has shape " + in_words(shape) +
                          ", allowed for a vector are (n,), (n, 1) and (1, n)");
    }
    return static_cast<std::int64_t>(array.header.count);
}

template <class T>
std::vector<T> read_vector(const open_array& array, const std::string& file, item_range entries) {
    files::check_memory(file, static_cast<double>(entries.size()) * sizeof(T));
    files::stored_array numbers = array.header.numbers(file);
    numbers.first = static_cast<std::uint64_t>(entries.begin);
    numbers.begin += numbers.first * static_cast<std::uint64_t>(numbers.type.bytes);
    numbers.count = static_cast<std::uint64_t>(entries.size());
    std::vector<T> vector;
    files::read_numbers(array.bytes, numbers, vector);
    return vector;
}

template <class T>
std::vector<T> read_vector(const open_array& array, const std::string& file) {
    return read_vector<T>(array, file, {0, vector_entries(array, file)});
}

template <class T>
dense_columns<T> read_columns(const open_array& array, const std::string& file,
                              std::optional<std::int64_t> entries) {
    const array_header& header = array.header;
    const auto& shape = header.shape;
    const bool is_row = shape.size() == 2 && shape[0] == 1 && entries != 1;
    if (shape.size() < 2 || is_row || (shape.size() == 2 && shape[1] == 1)) {
        dense_columns<T> one{0, 1, read_vector<T>(array, file)};
        one.rows = static_cast<std::int64_t>(one.values.size());
        return one;
    }
    if (shape.size() > 2 || shape[1] == 0) {
        throw input_error(file + ": " + header.name + " has shape " + in_words(shape) +
                          ", allowed for vectors are (n,), (n, k) with k from 1 on, and (1, n)");
    }
    const auto rows = static_cast<std::int64_t>(shape[0]);
    const auto columns = static_cast<std::int64_t>(shape[1]);
    files::check_memory(file, (header.by_columns ? 1 : 2) * static_cast<double>(header.count) *
                                  sizeof(T));
    std::vector<T> items;
    files::read_numbers(array.bytes, header.numbers(file), items);
    if (header.by_columns) {
        return {rows, columns, std::move(items)};
    }
    dense_columns<T> result{rows, columns, std::vector<T>(items.size())};
    auto to = result.values.begin();
    for (std::int64_t column = 0; column < columns; ++column) {
        for (std::int64_t row = 0; row < rows; ++row) {
            *to++ = items[as_size(row * columns + column)];
        }
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::vector<T> read_vector(const open_array&, const std::string&);                    \
    template std::vector<T> read_vector(const open_array&, const std::string&, item_range);        \
    template dense_columns<T> read_columns(const open_array&, const std::string&,                  \
                                           std::optional<std::int64_t>);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::numpy
