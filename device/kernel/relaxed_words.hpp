// Words that threads of one device read and change at the same time, without an order among them:
// the same calls for tasks of hosts and of GPUs.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#ifndef __CUDA_ARCH__
#include <atomic>
#endif

namespace krylith {

[[nodiscard]] KRYLITH_HD inline std::int32_t read_word(std::int32_t* word) {
#ifdef __CUDA_ARCH__
    return *const_cast<const volatile std::int32_t*>(word); // not what the L1 cache remembers
#else
    return std::atomic_ref(*word).load(std::memory_order_relaxed);
#endif
}

KRYLITH_HD inline void write_word(std::int32_t* word, std::int32_t value) {
#ifdef __CUDA_ARCH__
    *const_cast<volatile std::int32_t*>(word) = value;
#else
    std::atomic_ref(*word).store(value, std::memory_order_relaxed);
#endif
}

/// Writes `value` if the word is `expected`; returns what it was.
KRYLITH_HD inline std::int32_t replace_word(std::int32_t* word, std::int32_t expected,
                                            std::int32_t value) {
#ifdef __CUDA_ARCH__
    return atomicCAS(word, expected, value);
#else
    std::atomic_ref(*word).compare_exchange_strong(expected, value, std::memory_order_relaxed);
    return expected;
#endif
}

KRYLITH_HD inline void add_to_word(std::int64_t* word, std::int64_t number) {
#ifdef __CUDA_ARCH__
    atomicAdd(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(number));
#else
    std::atomic_ref(*word).fetch_add(number, std::memory_order_relaxed);
#endif
}

/// Sets bits of a word in which other threads may set bits at the same time.
KRYLITH_HD inline void set_bits(std::uint32_t* word, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
    atomicOr(word, bits);
#else
    std::atomic_ref(*word).fetch_or(bits, std::memory_order_relaxed);
#endif
}

/// Reads the word while other threads may set bits of it.
[[nodiscard]] KRYLITH_HD inline std::uint32_t read_bits(std::uint32_t* word) {
#ifdef __CUDA_ARCH__
    return *word;
#else
    return std::atomic_ref(*word).load(std::memory_order_relaxed);
#endif
}

} // namespace krylith
