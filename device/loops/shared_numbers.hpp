// Integers that many threads add to or raise, and sums of products rounded apart, for code that
// hosts and GPUs share. The order of such operations does not show in their result.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// Adds to a number and returns what it was.
template <class V>
KRYLITH_HD inline V add_shared(V* to, V number) {
#ifdef __CUDA_ARCH__
    return atomicAdd(to, number);
#else
    return std::atomic_ref<V>(*to).fetch_add(number, std::memory_order_relaxed);
#endif
}
KRYLITH_HD inline std::int64_t add_shared(std::int64_t* to, std::int64_t number) {
#ifdef __CUDA_ARCH__
    using bits = unsigned long long; // CUDA adds these
    return static_cast<std::int64_t>(
        atomicAdd(reinterpret_cast<bits*>(to), static_cast<bits>(number)));
#else
    return std::atomic_ref<std::int64_t>(*to).fetch_add(number, std::memory_order_relaxed);
#endif
}

template <class V>
KRYLITH_HD inline void raise_shared(V* to, V number) {
#ifdef __CUDA_ARCH__
    atomicMax(to, number);
#else
    std::atomic_ref<V> shared(*to);
    V known = shared.load(std::memory_order_relaxed);
    while (known < number &&
           !shared.compare_exchange_weak(known, number, std::memory_order_relaxed)) {
    }
#endif
}

template <class V>
[[nodiscard]] KRYLITH_HD inline V load_shared(V* from) {
#ifdef __CUDA_ARCH__
    return *static_cast<volatile V*>(from);
#else
    return std::atomic_ref<V>(*from).load(std::memory_order_relaxed);
#endif
}

KRYLITH_HD inline void store_shared(std::int32_t* to, std::int32_t number) {
#ifdef __CUDA_ARCH__
    *static_cast<volatile std::int32_t*>(to) = number;
#else
    std::atomic_ref<std::int32_t>(*to).store(number, std::memory_order_relaxed);
#endif
}

/// Stores `wanted` where `expected` is; returns what was there.
KRYLITH_HD inline std::int32_t exchange_shared(std::int32_t* at, std::int32_t expected,
                                               std::int32_t wanted) {
#ifdef __CUDA_ARCH__
    return atomicCAS(at, expected, wanted);
#else
    std::atomic_ref<std::int32_t>(*at).compare_exchange_strong(expected, wanted,
                                                               std::memory_order_relaxed);
    return expected;
#endif
}

/// The bits of a number that is not negative: they ascend as the numbers do.
[[nodiscard]] KRYLITH_HD inline unsigned long long ordered_bits(double x) {
#ifdef __CUDA_ARCH__
    return static_cast<unsigned long long>(__double_as_longlong(x));
#else
    return std::bit_cast<unsigned long long>(x);
#endif
}

[[nodiscard]] KRYLITH_HD inline double number_of_bits(unsigned long long bits) {
#ifdef __CUDA_ARCH__
    return __longlong_as_double(static_cast<long long>(bits));
#else
    return std::bit_cast<double>(bits);
#endif
}

/// a - b c, rounded twice.
[[nodiscard]] KRYLITH_HD inline double minus_product(double a, double b, double c) {
#ifdef __CUDA_ARCH__
    return __dsub_rn(a, __dmul_rn(b, c));
#else
    return a - b * c;
#endif
}
[[nodiscard]] KRYLITH_HD inline float minus_product(float a, float b, float c) {
#ifdef __CUDA_ARCH__
    return __fsub_rn(a, __fmul_rn(b, c));
#else
    return a - b * c;
#endif
}

/// a + b c, rounded twice.
template <class T>
[[nodiscard]] KRYLITH_HD inline T plus_product(T a, T b, T c) {
    return minus_product(a, -b, c);
}

} // namespace krylith
