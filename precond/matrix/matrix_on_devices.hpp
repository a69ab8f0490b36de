// The matrix of an operator over its devices, for preconditioners that are made there.
#pragma once

#include <span>
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

/// Uploads a matrix in the caller's order of rows; its rows lie as those of the layout, in the
/// order of the layout. Columns ascend strictly in each row: entries at one place add up. Throws
/// usage_error, which begins with `who`, where sizes differ, and input_error as validate() does.
template <class T>
[[nodiscard]] distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                                            const csr_view<T>& matrix);

/// The same of a matrix whose rows lie as those of one layout, and whose columns as those of
/// another.
template <class T>
[[nodiscard]] distributed_csr<T> on_devices(const layout& range, const layout& domain,
                                            const csr_view<T>& matrix);

/// Copies the rows that lie on the devices, and sorts and adds up likewise. Throws usage_error
/// where the layout has an order of its own or other rows, and what distributed_csr throws.
template <class T>
[[nodiscard]] distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                                            std::span<const csr_part<T>> parts,
                                            part_values values = part_values::copied);

/// Multiplies a matrix whose largest magnitude is beyond 2^-130 to 2^130 (float: 2^-40, 2^40) by a
/// power of two (moderating_exponent()), so that what is made of it, and squares, stay in range: M
/// is then 2^k times that of A, which changes no method's iterates. Reads all values, and waits for
/// the devices.
template <class T>
[[nodiscard]] distributed_csr<T> with_moderate_values(distributed_csr<T> matrix);

/// The exponent of the power of two that makes the largest magnitude about 1 where it is beyond
/// these limits, 0 elsewhere. None that would take digits from the smallest magnitude, which is not
/// 0, is returned.
template <class T>
[[nodiscard]] int moderating_exponent(double largest, double smallest);

/// A square matrix over the group that has all its rows on one rank.
template <class T>
[[nodiscard]] distributed_csr<T> alone_on(const device_group& group, int rank, device_csr<T> rows);

/// The whole matrix on each device of the group, from one over all of them: matrix k has all its
/// rows on rank k. Rows travel from device to device. Waits for the devices.
template <class T>
[[nodiscard]] std::vector<distributed_csr<T>> whole_on_each(distributed_csr<T> matrix);

} // namespace krylith::detail
