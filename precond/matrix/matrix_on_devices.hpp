// The matrix of an operator over its devices, for preconditioners that are made there.
#pragma once

#include <string>
#include <vector>

#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// Throws usage_error, which begins with `who`, unless a matrix has the rows and columns of an
/// operator with this layout.
void check_size(const std::string& who, const layout& layout, std::int64_t rows,
                std::int64_t columns);

/// What a method makes of the global numbers of columns.
enum class global_columns {
    narrow,    ///< it keeps them in 32 bits
    any_number ///< nothing, or it keeps 64 bits
};

/// Returns a square matrix with its rows where those of the layout lie, in the order of the layout,
/// and columns that ascend strictly in each row: entries at one place add up. One in host memory,
/// in the caller's order, is uploaded, what lies on the devices copied, but values that are
/// borrowed. Collective. Throws usage_error, which begins with `who`, where sizes differ, and for
/// what lies on the devices where the layout has an order of its own or other rows; input_error as
/// validate() does, and for more rows than `columns` allows; and what distributed_csr throws.
template <class T>
[[nodiscard]] distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                                            const matrix_ref<T>& matrix,
                                            part_values values = part_values::copied,
                                            global_columns columns = global_columns::narrow);

/// The same of a matrix in host memory whose rows lie as those of one layout, and whose columns as
/// those of another.
template <class T>
[[nodiscard]] distributed_csr<T> on_devices(const layout& range, const layout& domain,
                                            const csr_view<T>& matrix);

/// Multiplies a matrix whose largest magnitude is beyond 2^-130 to 2^130 (float: 2^-40, 2^40) by a
/// power of two (moderating_exponent()), so that what is made of it, and squares, stay in range: M
/// is then 2^k times that of A, which changes no method's iterates. Reads all values, and waits for
/// the devices. Collective.
template <class T>
[[nodiscard]] distributed_csr<T> with_moderate_values(distributed_csr<T> matrix);

/// The exponent of the power of two that makes the largest magnitude about 1 where it is beyond
/// these limits, 0 elsewhere. None that would take digits from the smallest magnitude, which is not
/// 0, is returned.
template <class T>
[[nodiscard]] int moderating_exponent(double largest, double smallest);

/// A square matrix of rows that are all on one rank, on this rank alone().
template <class T>
[[nodiscard]] distributed_csr<T> alone_on(const communicator& comm, int rank, device_csr<T> rows);

/// The whole matrix on each device, from one over all of them: matrix k is alone_on() rank k. Rows
/// travel from device to device. Waits for the devices. Collective.
template <class T>
[[nodiscard]] std::vector<distributed_csr<T>> whole_on_each(distributed_csr<T> matrix);

} // namespace krylith::detail
