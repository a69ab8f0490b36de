// Dot products of short arrays, with a fixed order of summation.
#pragma once

#include <cstdint>

namespace krylith::host {

/// Computes out[j] += dot(w, v_j). Products are summed in double, in `Lanes` partial sums, so that
/// the result does not depend on how the compiler vectorises the loop, or on alignment. `Ahead` is
/// the distance, in entries, at which the v_j are prefetched from memory; 0 if they are in the
/// cache.
template <int Lanes, int Ahead, class T, class... Vectors>
void add_dots(double* const* out, std::int64_t n, const T* w, const Vectors*... v) {
    constexpr int count = sizeof...(Vectors);
    const T* const others[count] = {v...};
    double lanes[count][Lanes] = {};
    const std::int64_t whole = n / Lanes * Lanes;
    for (std::int64_t i = 0; i < whole; i += Lanes)
        for (int j = 0; j < count; ++j) {
            if constexpr (Ahead != 0) __builtin_prefetch(others[j] + i + Ahead, 0, 2);
#pragma omp simd
            for (int k = 0; k < Lanes; ++k)
                lanes[j][k] +=
                    static_cast<double>(w[i + k]) * static_cast<double>(others[j][i + k]);
        }
    for (int j = 0; j < count; ++j) {
        double sum = 0;
        for (std::int64_t i = whole; i < n; ++i)
            sum += static_cast<double>(w[i]) * static_cast<double>(others[j][i]);
        for (int width = Lanes / 2; width > 0; width /= 2)
            for (int k = 0; k < width; ++k) lanes[j][k] += lanes[j][k + width];
        *out[j] += lanes[j][0] + sum;
    }
}

/// Computes out += dot(a, b) of arrays in the cache.
template <class T>
void add_dot(double& out, std::int64_t n, const T* a, const T* b) {
    double* const place = &out;
    add_dots<16, 0>(&place, n, a, b);
}

} // namespace krylith::host
