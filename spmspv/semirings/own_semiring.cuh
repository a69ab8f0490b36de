// The kernels of a semiring of your own on GPUs, for .cu files compiled with -std=c++20 and
// --expt-relaxed-constexpr (own_semiring.hpp says the rest).
#pragma once

#include <krylith/spmspv/kernels/column_products.cuh>
#include <krylith/spmspv/kernels/multiply_cuda.cuh>
#include <krylith/spmspv/kernels/row_products.cuh>
#include <krylith/spmspv/semirings/own_semiring.hpp>

/// Compiles the kernels of semiring S for matrices with values of type M, for products that stand
/// in .cpp files: once in a program, outside of namespaces.
#define KRYLITH_SEMIRING_KERNELS(S, M)                                                             \
    template void krylith::cuda::multiply(krylith::device&, krylith::spmspv::kernel,               \
                                          const krylith::spmspv::product_arguments<S, M>&);
