#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/output_target.hpp>
#include <krylith/matrix/petsc/binary_file.hpp>
#include <krylith/matrix/petsc/class_ids.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith::petsc {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

template <class Number>
std::array<std::byte, sizeof(Number)> big_endian(Number number) {
    auto bytes = std::bit_cast<std::array<std::byte, sizeof(Number)>>(number);
    if constexpr (std::endian::native == std::endian::little) {
        std::ranges::reverse(bytes);
    }
    return bytes;
}

/// Writes number_of(k) for k below count, a MiB at a time.
template <class Number, class NumberOf>
void put(output_target& file, std::size_t count, const NumberOf& number_of) {
    constexpr std::size_t block = (std::size_t{1} << 20) / sizeof(Number);
    std::vector<std::array<std::byte, sizeof(Number)>> numbers(std::min(block, count));
    for (std::size_t begin = 0; begin < count; begin += block) {
        const std::size_t length = std::min(block, count - begin);
        for (std::size_t k = 0; k < length; ++k) {
            numbers[k] = big_endian(static_cast<Number>(number_of(begin + k)));
        }
        file.write(std::as_bytes(std::span(numbers).first(length)));
    }
}

void put_sizes(output_target& file, std::initializer_list<std::int64_t> sizes) {
    put<std::int32_t>(file, sizes.size(), [&](std::size_t k) { return sizes.begin()[k]; });
}

void check_length(const std::filesystem::path& path, std::int64_t length) {
    if (length > most) {
        throw input_error(
            path.string() + ": " + std::to_string(length) +
            " rows can't be written to a PETSc file of 32-bit integers, allowed are " +
            std::to_string(most));
    }
}

} // namespace

template <class T>
void write_matrix(const std::filesystem::path& path, const csr_view<T>& matrix, std::string_view) {
    check_length(path, matrix.rows);
    output_target file(path);
    put_sizes(file, {matrix_class, matrix.rows, matrix.columns, std::min(matrix.nnz(), most)});
    put<std::int32_t>(file, as_size(matrix.rows), [&](std::size_t row) {
        return matrix.row_offsets[row + 1] - matrix.row_offsets[row];
    });
    put<std::int32_t>(file, as_size(matrix.nnz()),
                      [&](std::size_t k) { return matrix.column_indices[k]; });
    put<double>(file, as_size(matrix.nnz()), [&](std::size_t k) { return matrix.values[k]; });
    file.commit();
}

template <class T>
void write_vector(const std::filesystem::path& path, const vector_pieces<T>& vector,
                  std::string_view) {
    check_length(path, vector.entries());
    output_target file(path);
    put_sizes(file, {vector_class, vector.entries()});
    vector.for_each([&](std::span<const T> piece) {
        put<double>(file, piece.size(), [&](std::size_t k) { return piece[k]; });
    });
    file.commit();
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void write_matrix(const std::filesystem::path&, const csr_view<T>&,                   \
                               std::string_view);                                                  \
    template void write_vector(const std::filesystem::path&, const vector_pieces<T>&,              \
                               std::string_view);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::petsc
