// Solves on compressed rows as they are.
#pragma once

#include <cstdint>

#include <krylith/sparse/sptrsv/exact_quotient.cuh>
#include <krylith/sparse/sptrsv/level_slices.hpp>
#include <krylith/sparse/sptrsv/row_sweep.cuh>
#include <krylith/sparse/sptrsv/solve_state.cuh>

namespace krylith::cuda {

/// The sums of a lane's row. The words are by row.
template <class T, int Vectors>
struct row_work {
    struct word {
        T x[Vectors];
    };
    using payload = T;

    triangular_vectors<T> v;
    word_pair<T> words;
    const T* values;
    bool unit;
    T sums[Vectors] = {};
    T diagonal = 0;

    [[nodiscard]] static __device__ bool known(const word& w) {
        bool all = true;
#pragma unroll
        for (int i = 0; i < Vectors; ++i) all = all && is_known(w.x[i]);
        return all;
    }
    __device__ void begin(std::int64_t row) {
#pragma unroll
        for (int i = 0; i < Vectors; ++i) sums[i] = i < v.count ? v.b[row + i * v.b_stride] : T{0};
        diagonal = 0;
    }
    [[nodiscard]] __device__ T load(std::int64_t k) const {
        return values[k];
    }
    __device__ void pivot(T value) {
        diagonal += value;
    }
    [[nodiscard]] __device__ word look(std::int32_t column) const {
        word w;
#pragma unroll
        for (int i = 0; i < Vectors; ++i)
            w.x[i] = load_word<word_scope::device>(words.own + std::int64_t{column} * Vectors + i);
        return w;
    }
    __device__ void take(T value, const word& w) {
#pragma unroll
        for (int i = 0; i < Vectors; ++i) sums[i] -= value * w.x[i];
    }
    __device__ void take_sum(int of, bool counts, T value, const word& w, bool on_diagonal) {
#pragma unroll
        for (int i = 0; i < Vectors; ++i) {
            const T sum = warp_sum(counts ? value * w.x[i] : T{0});
            if (lane_number() == of) sums[i] -= sum;
        }
        const T own = warp_sum(on_diagonal ? value : T{0});
        if (lane_number() == of) diagonal += own;
    }
    __device__ void finish(std::int64_t row) {
#pragma unroll
        for (int i = 0; i < Vectors; ++i) {
            const T x = unit ? sums[i] : sums[i] / diagonal;
            store_known<word_scope::device>(words.own + row * Vectors + i, x);
            store_unknown(words.next + row * Vectors + i);
            if (i < v.count) v.x[row + i * v.x_stride] = x;
        }
    }
};

} // namespace krylith::cuda
