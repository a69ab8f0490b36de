// Linear combinations of short arrays: one statement of a fused update on one tile.
#pragma once

#include <cstdint>
#include <utility>

#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::host {

/// A term: coefficient [* scale] * v, entry by entry. The sign is in the coefficient.
template <class T>
struct weighted {
    const T* v;
    const T* scale; ///< or null
    T coefficient;
};

/// A statement: target = sum of terms; the target may be one of them.
template <class T>
struct combination {
    T* target = nullptr;
    weighted<T> terms[max_terms] = {};
    int count = 0;
    bool scaled = false; ///< any term has a scale
};

/// Combines terms without scales: one loop for each number of terms, with all coefficients in
/// registers.
template <class T, int... Term>
void combine(const combination<T>& c, std::int64_t begin, std::int64_t end,
             std::integer_sequence<int, Term...> /*terms*/) {
    T* const target = c.target;
    const T* const v[] = {c.terms[Term].v...};
    const T coefficient[] = {c.terms[Term].coefficient...};
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) target[i] = (... + (coefficient[Term] * v[Term][i]));
}

/// Combines any terms: adds one after the other to a tile of sums.
template <class T>
void combine_scaled(const combination<T>& c, std::int64_t begin, std::int64_t end) {
    T sums[tile_size<T>] = {};
    const std::int64_t n = end - begin;
    for (int t = 0; t < c.count; ++t) {
        const T coefficient = c.terms[t].coefficient;
        const T* const v = c.terms[t].v + begin;
        if (c.terms[t].scale == nullptr) {
#pragma omp simd
            for (std::int64_t i = 0; i < n; ++i) sums[i] += coefficient * v[i];
        } else {
            const T* const scale = c.terms[t].scale + begin;
#pragma omp simd
            for (std::int64_t i = 0; i < n; ++i) sums[i] += coefficient * scale[i] * v[i];
        }
    }
    T* const target = c.target + begin;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) target[i] = sums[i];
}

/// Runs one statement on at most tile_size entries.
template <class T>
void combine(const combination<T>& c, std::int64_t begin, std::int64_t end) {
    if (c.scaled) return combine_scaled(c, begin, end);
    switch (c.count) {
    case 1: return combine(c, begin, end, std::make_integer_sequence<int, 1>());
    case 2: return combine(c, begin, end, std::make_integer_sequence<int, 2>());
    case 3: return combine(c, begin, end, std::make_integer_sequence<int, 3>());
    case 4: return combine(c, begin, end, std::make_integer_sequence<int, 4>());
    default: return combine_scaled(c, begin, end); // no terms give zero
    }
}

} // namespace krylith::host
