// The objects of a PETSc binary file: matrices and vectors one behind the other, in big-endian
// numbers (https://petsc.org/release/manualpages/Mat/MatLoad/, VecLoad).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <krylith/matrix/files/byte_source.hpp>
#include <krylith/matrix/stored/stored_numbers.hpp>

namespace krylith::petsc {

enum class object_kind : std::uint8_t { matrix, vector };

/// Where an object lies. PETSc is built with integers of 32 or 64 bits and numbers of double or
/// single precision, and writes them as they are: the first number tells the former, the length of
/// the file the latter.
struct binary_object {
    object_kind kind = object_kind::vector;
    int index_bytes = 4;
    int value_bytes = 8;
    std::int64_t rows = 0;
    std::int64_t columns = 1;
    std::vector<std::int64_t> row_offsets; ///< of a matrix
    std::uint64_t begin = 0;               ///< of the column indices, or of a vector's values
    std::uint64_t entries = 0;
    std::uint64_t end = 0; ///< the byte behind it

    [[nodiscard]] files::stored_array column_indices() const;
    [[nodiscard]] files::stored_array values() const;
};

/// Whether an object begins so: at least 8 bytes.
[[nodiscard]] bool is_binary_object(std::string_view beginning) noexcept;

/// Finds the first object of that kind. Throws input_error, with the byte where it is wrong, for a
/// file without one, for dense and complex objects, and for sizes that the file can't have.
[[nodiscard]] binary_object find_object(const binary::byte_source& file, object_kind kind,
                                        std::int64_t memory);

} // namespace krylith::petsc
