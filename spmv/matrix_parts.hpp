// Matrices whose arrays already lie in the memory of the devices: each device has the rows that it
// owns, as a simulation assembles them.
//
//     const csr_part<double> mine = {rows, offsets, columns, values}; // device pointers
//     const auto a = make_operator<double>(group, std::span(&mine, 1), {.borrow = true});
//     ... the simulation writes new values into its array, in the group's stream ...
//     const solve_result result = cg(*a, b, x);
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Row offsets of either width, in device memory. Exactly one pointer is set.
struct offset_array {
    const std::int32_t* narrow = nullptr;
    const std::int64_t* wide = nullptr;

    offset_array() = default;
    offset_array(const std::int32_t* p) : narrow(p) {} // NOLINT: either pointer is an array
    offset_array(const std::int64_t* p) : wide(p) {}   // NOLINT
};

/// Consecutive rows of a matrix, in the memory of one device (host devices: host memory).
/// The entries of row i are [row_offsets[i], row_offsets[i + 1]) - row_offsets[0] of the other
/// arrays, so that a part of larger arrays can be given. Columns are those of the whole matrix,
/// from 0, in any order; duplicates add up.
template <class T>
struct csr_part {
    std::int64_t rows = 0;
    offset_array row_offsets = {};                ///< [rows + 1]
    const std::int32_t* column_indices = nullptr; ///< [nonzeros of these rows]
    const T* values = nullptr;                    ///< [nonzeros of these rows]
};

/// Whether a matrix copies the values of its rows, or reads those of the caller, who keeps them for
/// as long as it is used.
enum class part_values { copied, borrowed };

/// Coordinate entries as a finite-element code assembles them on one device: entry k adds values[k]
/// at (row_indices[k], column_indices[k]) of the whole matrix, in any order, duplicates included.
/// Rows must be among the `rows` rows that the device owns; entries with a negative row or column
/// are left out (as in PETSc's MatSetPreallocationCOO).
template <class T>
struct coo_part {
    std::int64_t rows = 0;
    std::int64_t entries = 0;
    const std::int32_t* row_indices = nullptr;    ///< [entries]
    const std::int32_t* column_indices = nullptr; ///< [entries]
    const T* values = nullptr;                    ///< [entries]
};

/// Makes the operator of the square matrix whose rows are those of parts[0], then those of
/// parts[1], ...; parts[rank] lies on device `rank` of the group, which owns these rows. It waits
/// for what was enqueued in the devices' streams. CUDA devices plan transfers and formats
/// themselves: a list of the entries of x that each needs of others is all that leaves them. With
/// `options.measure`, and on host devices, offsets and columns are read back: O(nnz) on the host, 4
/// bytes a nonzero and 4 or 8 a row over the bus. Values don't leave the devices. While it works it
/// takes 8 bytes a row of each device, on several devices also 4 a nonzero. `options.borrow` makes
/// the format `csr` (then the default) use values in place, and columns too where global columns
/// are local ones (one device, or operator `nz`): they must then outlive the operator. Otherwise
/// arrays may be freed afterwards.
///
/// Throws usage_error for another number of parts than devices, and on CUDA for a pointer that is
/// not to memory of its device; input_error for offsets that descend or columns out of range,
/// naming the row of the whole matrix; device_error where memory is short.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const device_group& group, std::span<const csr_part<T>> parts,
              const operator_options& options = {});

/// Makes the operator of the same rows between given vectors, of as many columns as the domain
/// layout has entries: a matrix that is not square, or one on the vectors of another operator. The
/// range layout must have the rows of the parts, and no layout an order. Throws what the other
/// does, and usage_error for layouts that don't fit.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const operator_layouts& layouts, std::span<const csr_part<T>> parts,
              const operator_options& options = {});

/// Makes the operator of coordinate entries of a square matrix. The permutation that sorts them
/// (matrix/coo_assembly.hpp) stays on the devices, so that update_on_devices(), which takes values
/// in the order of the entries, costs one gather: 20 bytes an entry and 12 a nonzero (fp64), and
/// the format's own copy. update() takes the entries of all parts, one part after the other. Row
/// and column indices are read back: 8 bytes an entry over the bus, O(entries) on the host. A
/// device has at most 2^31 - 1 entries. `options.borrow` has no effect.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const device_group& group, std::span<const coo_part<T>> parts,
              const operator_options& options = {});

/// Makes the operator of coordinate entries between given vectors, as that of csr_parts between
/// them.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const operator_layouts& layouts, std::span<const coo_part<T>> parts,
              const operator_options& options = {});

} // namespace krylith
