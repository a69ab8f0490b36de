// The matrix that a command solves with or multiplies.
#pragma once

#include <string_view>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/market_report.hpp>

namespace krylith::tool {

/// load_matrix(name), then, for --spd, make_spd. Throws what these throw, and input_error unless
/// the matrix is square.
template <class T>
[[nodiscard]] csr_matrix<T> load_square(std::string_view name, bool spd,
                                        market_report* report = nullptr);

extern template csr_matrix<double> load_square(std::string_view, bool, market_report*);
extern template csr_matrix<float> load_square(std::string_view, bool, market_report*);

} // namespace krylith::tool
