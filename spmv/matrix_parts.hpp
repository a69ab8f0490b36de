// Matrices whose arrays lie in the memory of the devices already: each device has the rows that it
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

/// Row offsets of either width, in device memory.
struct offset_array {
    const std::int32_t* narrow = nullptr; ///< one of both is set
    const std::int64_t* wide = nullptr;

    offset_array() = default;
    offset_array(const std::int32_t* p) : narrow(p) {} // NOLINT: either pointer is an array
    offset_array(const std::int64_t* p) : wide(p) {}   // NOLINT
};

/// Consecutive rows of a square matrix, in the memory of one device (host devices: host memory).
/// Entries of row i are [row_offsets[i], row_offsets[i + 1]) - row_offsets[0] of the other arrays,
/// so that a part of larger arrays can be given. Columns are those of the whole matrix, from 0; in
/// any order, and duplicates add up.
template <class T>
struct csr_part {
    std::int64_t rows = 0;
    offset_array row_offsets = {};                ///< [rows + 1]
    const std::int32_t* column_indices = nullptr; ///< [nonzeros of these rows]
    const T* values = nullptr;                    ///< [nonzeros of these rows]
};

/// What a finite-element code assembles on one device: entry k adds values[k] at (row_indices[k],
/// column_indices[k]) of the whole matrix, in any order, duplicates included. Rows must be among
/// the `rows` that the device owns; entries with a negative row or column are left out (as in
/// PETSc's MatSetPreallocationCOO).
template <class T>
struct coo_part {
    std::int64_t rows = 0;
    std::int64_t entries = 0;
    const std::int32_t* row_indices = nullptr;    ///< [entries]
    const std::int32_t* column_indices = nullptr; ///< [entries]
    const T* values = nullptr;                    ///< [entries]
};

/// The operator of the matrix whose rows are those of parts[0], then those of parts[1], ...;
/// parts[rank] lies on device `rank` of the group, which owns these rows. Waits for what was
/// enqueued in the devices' streams, and reads offsets and columns back to plan transfers and
/// formats: O(nnz) on the host, 4 bytes a nonzero and 4 or 8 a row over the bus; values don't
/// leave the devices. `options.borrow` makes the format `csr` (then the default) use values,
/// and where global columns are local ones (one device, or operator `nz`) columns, in place:
/// they must outlive the operator. Otherwise arrays may be freed afterwards.
///
/// Throws usage_error for another number of parts than devices, and on CUDA for a pointer that is
/// not to memory of its device; input_error for offsets that descend or columns out of range,
/// naming the row of the whole matrix; device_error where memory is short.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const device_group& group, std::span<const csr_part<T>> parts,
              const operator_options& options = {});

/// The same of coordinate entries. The permutation that sorts them (matrix/coo_assembly.hpp) stays
/// on the devices, so that update_on_devices(), which takes values in the order of the entries,
/// costs one gather: 20 bytes an entry and 12 a nonzero (fp64), and the format's own copy. update()
/// takes the entries of all parts, one part after the other. Reads row and column indices back: 8
/// bytes an entry over the bus, O(entries) on the host. At most 2^31 - 1 entries a device.
/// `options.borrow` has no effect.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const device_group& group, std::span<const coo_part<T>> parts,
              const operator_options& options = {});

} // namespace krylith
