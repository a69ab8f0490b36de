// A user's own product function as an operator: matrix-free stencils, sums and products of
// operators.
#pragma once

#include <memory>

#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/sparse/external/product_call.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Makes an operator for cg, gmres and bicgstab. `rows` partitions the rows over the devices; x is
/// replicated. An exception thrown by the function ends the solve (as device_error where it ran on
/// a worker). All functions here are collective. Throws usage_error for an empty function, or a
/// partition with another number of ranks than the group.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_matrix_free(const communicator& comm, row_partition rows, product_function<T> product,
                 product_kind kind = product_kind::on_device);

/// Makes an operator of as many columns as `columns` has rows, which says which device counts which
/// entries of x. x and y are replicated.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_matrix_free(const communicator& comm, row_partition rows, row_partition columns,
                 product_function<T> product, product_kind kind = product_kind::on_device);

/// Makes an operator with owned vectors: only the ghosts that the plan names are sent. Where the
/// plan has two partitions, x is of that of the columns and y of that of the rows.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>>
make_matrix_free(const communicator& comm, const halo_plan& plan, product_function<T> product,
                 product_kind kind = product_kind::on_device);

} // namespace krylith
