// How work lies on the devices, in words: why this operator, and what will make it slow.
#pragma once

#include <string>
#include <vector>

#include <krylith/spmv/machine_rates.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::tool {

/// "auto: halo 18.2 us, nz 40.1 us an iteration by the cost model", "as asked for".
template <class T>
[[nodiscard]] std::string why_operator(const matrix_operator<T>& a, const operator_options& asked);

/// Why entries cross devices by a.transfer().
template <class T>
[[nodiscard]] std::string why_transport(const matrix_operator<T>& a, const operator_options& asked);

/// Staged copies, devices without rows, more host devices than cores.
[[nodiscard]] std::vector<std::string> placement_warnings(const layout& layout);

/// "2 devices would take ...": where the cost model says that fewer of these devices need less time
/// for an iteration of CG, all told. Empty for host devices, which share the cores whatever their
/// number. The matrix is that of the operator; O(nnz) for each number that could be faster.
template <class T>
[[nodiscard]] std::string fewer_devices(const matrix_operator<T>& a, const csr_view<T>& matrix);

/// The same by `kind` on `most` devices at these rates. Empty for operators that the cost model has
/// no times for.
template <class T>
[[nodiscard]] std::string fewer_devices(const csr_view<T>& matrix, int most, operator_kind kind,
                                        const machine_rates& rates);

/// What `--devices auto` takes: of 1, 2, 4 ... and all GPUs the number, and the operator if `kind`
/// is automatic, that the cost model finds fastest; on the host one device, which has all cores.
template <class T>
[[nodiscard]] device_group fastest_devices(const device_options& options, operator_kind kind,
                                           const csr_view<T>& matrix, std::string& because);

} // namespace krylith::tool
