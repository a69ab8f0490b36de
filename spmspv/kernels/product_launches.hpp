// The kernels of products on CUDA by semiring: product_cuda.cu chooses among them, a .cu for each
// semiring instantiates them.
#pragma once

#include <type_traits>

#include <krylith/spmspv/product.hpp>

namespace krylith::cuda {

/// The matrix with values of the semiring's type, or without any where the semiring reads none: so
/// kernels exist once for each semiring.
template <class S>
using plain_arguments = spmspv::product_arguments<S, typename S::value_type>;

/// Multiplies in the directions dense and pull.
template <class S>
void multiply_by_rows(device& device, spmspv::kernel k, const plain_arguments<S>& a);

template <class S>
void multiply_by_columns(device& device, spmspv::kernel k, const plain_arguments<S>& a);

} // namespace krylith::cuda
