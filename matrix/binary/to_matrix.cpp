// From the bytes of a file to a matrix of its own.
#include <krylith/matrix/binary/image.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/available_memory.hpp>
#include <krylith/matrix/first_touch.hpp>
#include <krylith/matrix/index_width.hpp>

namespace krylith::binary {
namespace {

template <class To, class From>
void copy(std::span<const From> from, std::vector<To>& to) {
    resize_in_parallel(to, from.size());
    const auto count = static_cast<std::int64_t>(from.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k) {
        to[as_size(k)] = static_cast<To>(from[as_size(k)]);
    }
}

/// A finite number that became infinite would be another matrix.
void refuse_overflow(const csr_view<double>& from, const std::string& name) {
    const std::int64_t nnz = from.nnz();
    std::int64_t first_bad = nnz;
#pragma omp parallel for schedule(static) reduction(min : first_bad)
    for (std::int64_t k = 0; k < nnz; ++k) {
        const double value = from.values[as_size(k)];
        if (std::isfinite(value) && !std::isfinite(static_cast<float>(value))) {
            first_bad = std::min(first_bad, k);
        }
    }
    if (first_bad < nnz) {
        const auto& offsets = from.row_offsets;
        const auto row =
            std::upper_bound(offsets.begin(), offsets.end(), first_bad) - offsets.begin() - 1;
        std::array<char, 32> value{};
        std::snprintf(value.data(), value.size(), "%.17g", from.values[as_size(first_bad)]);
        throw input_error(name + ": the value in row " + std::to_string(row) + ", column " +
                          std::to_string(from.column_indices[as_size(first_bad)]) +
                          " (from 0) is " + value.data() +
                          ", too large for fp32, allowed are magnitudes to 3.4e38");
    }
}

template <class T, class From>
csr_matrix<T> convert(const csr_view<From>& from) {
    csr_matrix<T> matrix;
    matrix.rows = from.rows;
    matrix.columns = from.columns;
    matrix.row_offsets.clear();
    copy(from.row_offsets, matrix.row_offsets);
    copy(from.column_indices, matrix.column_indices);
    copy(from.values, matrix.values);
    return matrix;
}

} // namespace

template <class T>
csr_matrix<T> to_matrix(const image& file, const std::string& name) {
    const double bytes = static_cast<double>(file.what.rows) * sizeof(std::int64_t) +
                         static_cast<double>(file.what.nnz) * (sizeof(std::int32_t) + sizeof(T));
    if (const auto available = static_cast<double>(available_memory()); bytes > available) {
        throw input_error(name + ": the matrix needs " + bytes_in_words(bytes) +
                          " of memory, allowed is what is available: " + bytes_in_words(available));
    }
    if (file.what.type == value_type_of<T>) {
        return convert<T>(file.view<T>());
    }
    if (file.what.type == value_type::fp32) {
        return convert<T>(file.view<float>());
    }
    refuse_overflow(file.view<double>(), name);
    return convert<T>(file.view<double>());
}

template csr_matrix<double> to_matrix(const image&, const std::string&);
template csr_matrix<float> to_matrix(const image&, const std::string&);

} // namespace krylith::binary
