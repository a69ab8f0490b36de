// Products over a semiring of your own: multiply() and adaptive_product with any struct that has
// the members of spmspv/semiring.hpp.
//
//     struct max_times { // the most likely path: lengths are probabilities
//         using value_type = float;
//         static constexpr const char* name = "max-times";
//         static constexpr bool exact = true;          // max is the same in any order
//         static constexpr bool reads_matrix = true;   // term() uses a,
//         static constexpr bool reads_vector = true;   // x,
//         static constexpr bool reads_columns = false; // and the number of the column
//         static constexpr bool first_suffices = false;
//         KRYLITH_HD static float absent() { return 0; }
//         KRYLITH_HD static float add(float a, float b) { return a < b ? b : a; }
//         KRYLITH_HD static float term(float a, float x, std::int32_t) { return a * x; }
//     };
//
// spmspv::adaptive_product<max_times, float> then multiplies by a csr_csc_pair<float>.
// Values are double, float or std::int32_t; a semiring that reads the matrix has the type of its
// values, double or float. Needed of term(): what semiring.hpp says of absent entries.
//
// This header has the kernels of host devices; compile with OpenMP, without which each product runs
// on one thread. In a build with CUDA kernels for GPUs are compiled by nvcc: all in a .cu file that
// includes own_semiring.cuh instead, or, where products stand in .cpp files, by
// KRYLITH_SEMIRING_KERNELS there. A semiring that shall run on the host alone says
// `static constexpr bool host_only = true`; a product on a GPU is then a usage_error.
#pragma once

#include <krylith/device/language/cxx20.hpp>
#include <krylith/spmspv/adaptive_product/adaptive_steps.hpp>
#include <krylith/spmspv/kernels/multiply_host.hpp>
#include <krylith/spmspv/product/multiply_steps.hpp>
