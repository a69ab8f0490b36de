// Operator pcoo of coordinate entries in any order: each device multiplies equally many of them, as
// they lie.
#pragma once

#include <memory>

#include <krylith/matrix/coo.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

/// Entries are assigned by their places: to the first device the first, and so on. Rows are owned
/// as pcoo::owned() says (partition/nonzero/pcoo.hpp): for entries by rows or by columns a device
/// owns those that begin on it, for others equally many rows, whose results then come from all
/// devices. Entries of the same place add up. update() takes values in the order of `matrix`.
/// O(rows + entries) on the host; keeps up to 16 bytes an entry there, for update().
///
/// options.kind must be pcoo, and order none: to_csr() makes a matrix for the others. Throws
/// usage_error, and like make_operator of a csr_view.
template <class T>
[[nodiscard]] std::unique_ptr<matrix_operator<T>> make_operator(const device_group& group,
                                                                const coo_matrix<T>& matrix,
                                                                const operator_options& options);

} // namespace krylith
