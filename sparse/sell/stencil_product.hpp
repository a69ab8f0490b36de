// The product of SELL matrices most of whose rows have one stencil.
#pragma once

#include <cstdint>

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/device_matrix/sell_view.hpp>

namespace krylith::cuda {

/// Whether the product may take 16 bytes of consecutive rows of a lane at once.
template <class T>
[[nodiscard]] bool takes_lane_rows(const spmv_arguments<T>& a, std::int64_t first_owned);

/// Enqueues the product by the kernel of this shape, which is not stencil_shape::none, for vectors
/// that takes_lane_rows().
template <class T>
void apply_stencil(device& device, const spmv_arguments<T>& a, const sell_view<T>& m,
                   stencil_shape shape);

} // namespace krylith::cuda
