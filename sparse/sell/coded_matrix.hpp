// The launch of products by coded_kernel().
#pragma once

#include <krylith/sparse/device_matrix.hpp>
#include <krylith/sparse/device_matrix/sell_view.hpp>

namespace krylith::cuda {

/// Enqueues the product of a matrix most of whose slices have values of this form, full ones being
/// those with triples.
template <class T>
void apply_coded(device& device, const spmv_arguments<T>& a, const sell_view<T>& m,
                 value_code form);

} // namespace krylith::cuda
