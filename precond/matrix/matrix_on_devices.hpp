// The matrix of an operator over its devices, for preconditioners that are made there.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/spmv/distributed_csr.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// Uploads a matrix in the caller's order of rows; its rows lie as those of the layout, in the
/// order of the layout. Entries keep their order in a row. Throws usage_error, which begins with
/// `who`, where sizes differ, and input_error as validate() does.
template <class T>
[[nodiscard]] distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                                            const csr_view<T>& matrix);

/// Copies the rows that lie on the devices. Throws usage_error where the layout has an order of its
/// own or other rows, and what distributed_csr throws.
template <class T>
[[nodiscard]] distributed_csr<T> on_devices(const std::string& who, const layout& layout,
                                            std::span<const csr_part<T>> parts);

/// The matrix with columns that ascend strictly in each row: entries at one place add up.
template <class T>
[[nodiscard]] distributed_csr<T> with_sorted_rows(distributed_csr<T> matrix);

/// A square matrix over the group that has all its rows on one rank.
template <class T>
[[nodiscard]] distributed_csr<T> alone_on(const device_group& group, int rank, device_csr<T> rows);

/// The whole matrix on each device of the group, from one over all of them: matrix k has all its
/// rows on rank k. Rows travel from device to device. Waits for the devices.
template <class T>
[[nodiscard]] std::vector<distributed_csr<T>> whole_on_each(distributed_csr<T> matrix);

} // namespace krylith::detail
