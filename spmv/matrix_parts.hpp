// Matrices whose arrays already lie in the memory of the devices: each device has the rows that it
// owns, as a simulation assembles them. Where there are several drivers, each gives the parts of
// its local ranks, and the functions here are collective.
//
//     const csr_part<double> mine = {rows, offsets, columns, values}; // device pointers
//     const auto a = make_operator<double>(group, std::span(&mine, 1), {.borrow = true});
//     ... the simulation writes new values into its array, in the group's stream ...
//     const solve_result result = cg(*a, b, x);
#pragma once

#include <memory>
#include <span>

#include <krylith/distributed/distributed_assembly.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Makes the operator of the square matrix whose rows are those of parts[0], then those of
/// parts[1], ...; parts[rank] lies on device `rank` of the group, which owns these rows. It waits
/// for what was enqueued in the devices' streams. CUDA devices plan transfers and formats
/// themselves: a list of the entries of x that each needs of others is all that leaves them, and
/// for operators that give devices entries of others' rows (2nz, lra, lra-rc, pcsr, pcsc, pcoo)
/// the row offsets and the rows that they share. With `options.measure`, and on host devices,
/// offsets and columns are read back: O(nnz) on the host, 4 bytes a nonzero and 4 or 8 a row over
/// the bus. Values don't leave the devices. While it works it takes 8 bytes a row of each device,
/// on several devices also 4 a nonzero (pcsc: 24 a nonzero, and 20 a row of the whole matrix).
/// `options.borrow` makes the format `csr` (then the default) use values in place, and columns too
/// where global columns are local ones (a device that has all rows, or operators `nz` and
/// `allgather`): they must then outlive the operator. Otherwise arrays may be freed afterwards.
///
/// Throws usage_error for another number of parts than devices, for `options.borrow` with those
/// operators, and on CUDA for a pointer that is not to memory of its device; input_error for
/// offsets that descend or columns out of range, naming the row of the whole matrix; device_error
/// where memory is short.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const communicator& comm, std::span<const csr_part<T>> parts,
              const operator_options& options = {});

/// Makes the operator of the same rows between given vectors, of as many columns as the domain
/// layout has entries: a matrix that is not square, or one on the vectors of another operator. The
/// range layout must have the rows of the parts, and no layout an order. Throws what the other
/// does, and usage_error for layouts that don't fit.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const operator_layouts& layouts, std::span<const csr_part<T>> parts,
              const operator_options& options = {});

/// Makes the operator of coordinate entries of a square matrix, through a distributed_assembly,
/// which it keeps: update_on_devices() takes values in the order of the entries, which costs one
/// gather, and update() those of all parts in turn. Bytes on a device: 4 an entry and, with
/// duplicates, 4 a nonzero, the values in CSR order, and what the format keeps; meanwhile those of
/// the assembly, or 12 a nonzero beside the operator (fp64; on several devices 16). A matrix that
/// preconditioners are to be made of, too, is better assembled by the caller. `options.borrow` has
/// no effect. Throws what distributed_assembly and the operator of its matrix throw.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const communicator& comm, std::span<const coo_part<T>> parts,
              const operator_options& options = {});

/// Makes the operator of coordinate entries between given vectors, as that of csr_parts between
/// them.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const operator_layouts& layouts, std::span<const coo_part<T>> parts,
              const operator_options& options = {});

/// Makes the operator of the matrix on vectors of its own, partitioned as its rows and columns are.
/// It is halo unless options.kind asks for another; options.order must be none. Throws
/// what make_operator() of csr_parts throws.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const distributed_csr<T>& matrix, const operator_options& options = {});

/// Makes the operator of the matrix between given vectors, whose layouts have its partition of rows
/// and its number of columns, and no order. The layouts may be of a larger group where the matrix
/// is on the first device alone (communicator::sub()), which then has all rows. For operator
/// halo, and on one device, `options.borrow` makes the format `csr` use values and columns in
/// place, and the matrix must then outlive the operator; elsewhere it has no effect. New values go
/// to update_on_devices(), block(rank).values() those of a rank, and null for a rank without rows.
/// Throws what make_operator() of csr_parts throws.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_operator(const operator_layouts& layouts, const distributed_csr<T>& matrix,
              const operator_options& options = {});

} // namespace krylith
