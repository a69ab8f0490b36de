// How work lies on the devices, in words: why this operator, and what will make it slow.
#pragma once

#include <string>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::tool {

/// "auto, since no device needs more than 4096 entries of others (1.6% of the rows)".
template <class T>
[[nodiscard]] std::string why_operator(const matrix_operator<T>& a, const operator_options& asked);

/// Why entries cross devices by a.transfer().
template <class T>
[[nodiscard]] std::string why_transfer(const matrix_operator<T>& a, const operator_options& asked);

/// Staged copies, devices with few rows or none, more host devices than cores.
[[nodiscard]] std::vector<std::string> placement_warnings(const layout& where);

extern template std::string why_operator(const matrix_operator<double>&, const operator_options&);
extern template std::string why_operator(const matrix_operator<float>&, const operator_options&);
extern template std::string why_transfer(const matrix_operator<double>&, const operator_options&);
extern template std::string why_transfer(const matrix_operator<float>&, const operator_options&);

} // namespace krylith::tool
