// Terms of the entries of a row, for all kernels of rows.
#pragma once

#include <cstdint>

#include <krylith/sparse/storage/load_once.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

/// Gives the term of an entry, if x has an entry there.
template <class S, bool Masked>
struct row_terms {
    using T = typename S::value_type;
    const T* values;
    const T* x;
    const std::uint32_t* bits;

    /// Whether an entry of A has a term; false, without a load, unless `in`. It has no branches, so
    /// that the loads of several entries are in flight at once.
    [[nodiscard]] __device__ bool has(bool in, std::int32_t column) const {
        if constexpr (Masked) {
            const auto i = static_cast<std::uint32_t>(column); // may be -1 unless `in`
            const std::uint32_t word = in ? bits[i / 32] : 0;
            return (word >> (i % 32) & 1) != 0;
        } else if constexpr (!S::reads_vector) {
            const T there = in ? x[column] : S::absent();
            return there != S::absent();
        } else {
            return in;
        }
    }
    [[nodiscard]] __device__ T matrix_value(bool in, std::uint32_t entry) const {
        if constexpr (S::reads_matrix) return in ? load_once(values + entry) : T(0);
        return T(0);
    }
    [[nodiscard]] __device__ T vector_value(bool in, std::int32_t column) const {
        if constexpr (S::reads_vector) return in ? x[column] : T(0);
        return T(0);
    }
    [[nodiscard]] __device__ T term(std::uint32_t entry, std::int32_t column) const {
        return S::term(matrix_value(true, entry), vector_value(true, column), column);
    }
};

} // namespace krylith::cuda
