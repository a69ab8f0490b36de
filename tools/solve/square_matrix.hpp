// The matrix that a command solves with or multiplies.
#pragma once

#include <string_view>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/market/market_report.hpp>

namespace krylith::tool {

/// load_matrix(name), then, for --spd, make_spd. Throws what these throw, and input_error unless
/// the matrix is square.
template <class T>
[[nodiscard]] csr_matrix<T> load_square(std::string_view name, bool spd,
                                        market_report* report = nullptr);

} // namespace krylith::tool
