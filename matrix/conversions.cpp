#include <krylith/matrix/conversions.hpp>

#include <cstddef>
#include <utility>

#include <omp.h>

#include <krylith/matrix/compressed/first_touch.hpp>
#include <krylith/matrix/compressed/transpose_entries.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {
namespace {

/// The arrays of one direction, in names for rows and columns alike.
template <class T>
struct compressed_arrays {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> indices;
    std::vector<T> values;
};

/// Transposes. Indices are below `across`; `major_size`, the number of offsets but one, becomes the
/// range of the result's indices.
template <class T>
compressed_arrays<T> other_direction(std::span<const std::int64_t> offsets,
                                     std::span<const std::int32_t> indices,
                                     std::span<const T> values, std::int64_t across) {
    const compressed_pattern pattern{offsets, indices, across};
    compressed_arrays<T> result;
    resize_in_parallel(result.offsets, as_size(across) + 1);
    resize_in_parallel(result.indices, indices.size());
    resize_in_parallel(result.values, values.size());
    transpose_entries<T>(
        pattern, result.offsets, plan_transposition(pattern, omp_get_max_threads()),
        [&](std::int64_t k) { return values.data()[k]; },
        [to_index = result.indices.data(),
         to_value = result.values.data()](std::int64_t place, std::int64_t major, const T& value) {
            to_index[place] = static_cast<std::int32_t>(major); // checked by the callers
            to_value[place] = value;
        });
    return result;
}

/// The major index of each entry, as COO stores it.
std::vector<std::int32_t> expanded(std::span<const std::int64_t> offsets) {
    std::vector<std::int32_t> major_size;
    resize_in_parallel(major_size, as_size(offsets.back()));
    const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
#pragma omp parallel for schedule(static)
    for (std::int64_t major = 0; major < count; ++major) {
        for (std::int64_t k = offsets[as_size(major)]; k < offsets[as_size(major + 1)]; ++k) {
            major_size[as_size(k)] = static_cast<std::int32_t>(major); // checked by the callers
        }
    }
    return major_size;
}

template <class T>
std::vector<T> copied(std::span<const T> from) {
    std::vector<T> to;
    resize_in_parallel(to, from.size());
    const auto count = static_cast<std::int64_t>(from.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k) {
        to[as_size(k)] = from[as_size(k)];
    }
    return to;
}

} // namespace

template <class T>
csr_matrix<T> transpose(const csr_view<T>& matrix) {
    check_index_size("CSR matrix: rows", matrix.rows);
    validate(matrix);
    auto arrays =
        other_direction(matrix.row_offsets, matrix.column_indices, matrix.values, matrix.columns);
    return {matrix.columns, matrix.rows, std::move(arrays.offsets), std::move(arrays.indices),
            std::move(arrays.values)};
}

template <class T>
csc_matrix<T> to_csc(const csr_view<T>& matrix) {
    check_index_size("CSR matrix: rows", matrix.rows);
    validate(matrix);
    auto arrays =
        other_direction(matrix.row_offsets, matrix.column_indices, matrix.values, matrix.columns);
    return {matrix.rows, matrix.columns, std::move(arrays.offsets), std::move(arrays.indices),
            std::move(arrays.values)};
}

template <class T>
csr_matrix<T> to_csr(const csc_view<T>& matrix) {
    check_index_size("CSC matrix: columns", matrix.columns);
    validate(matrix);
    auto arrays =
        other_direction(matrix.column_offsets, matrix.row_indices, matrix.values, matrix.rows);
    return {matrix.rows, matrix.columns, std::move(arrays.offsets), std::move(arrays.indices),
            std::move(arrays.values)};
}

template <class T>
coo_matrix<T> to_coo(const csr_view<T>& matrix) {
    check_index_size("CSR matrix: rows", matrix.rows);
    validate(matrix);
    return {matrix.rows, matrix.columns, expanded(matrix.row_offsets),
            copied(matrix.column_indices), copied(matrix.values)};
}

template <class T>
coo_matrix<T> to_coo(const csc_view<T>& matrix) {
    check_index_size("CSC matrix: columns", matrix.columns);
    validate(matrix);
    return {matrix.rows, matrix.columns, copied(matrix.row_indices),
            expanded(matrix.column_offsets), copied(matrix.values)};
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template csr_matrix<T> transpose(const csr_view<T>&);                                          \
    template csc_matrix<T> to_csc(const csr_view<T>&);                                             \
    template csr_matrix<T> to_csr(const csc_view<T>&);                                             \
    template coo_matrix<T> to_coo(const csr_view<T>&);                                             \
    template coo_matrix<T> to_coo(const csc_view<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
