// Entries of x that say by themselves whether they are known: a word is all ones until then.
//
// The value is its own flag, so neither side needs a fence, and a thread that waits has the value
// as soon as it sees it. A value that happens to be the NaN of all ones is stored as another NaN.
// Source: the busy-waiting form of synchronisation-free solves (Liu et al., CCPE 2017), with the
// NaN that Ginkgo uses in place of flags.
#pragma once

#include <cstdint>

namespace krylith::cuda {

__device__ inline std::uint64_t bits_of(double value) {
    return static_cast<std::uint64_t>(__double_as_longlong(value));
}
__device__ inline std::uint32_t bits_of(float value) {
    return __float_as_uint(value);
}

template <class T>
[[nodiscard]] __device__ inline bool is_known(T value) {
    using word = decltype(bits_of(value));
    return bits_of(value) != static_cast<word>(~word{0});
}

/// Who waits for words: threads of the device, which meet in L2, or of one block, which meet in L1.
enum class word_scope { device, block };

template <word_scope Scope>
[[nodiscard]] __device__ inline double load_word(const double* from) {
    double value;
    if constexpr (Scope == word_scope::device)
        asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(from) : "memory");
    else
        asm volatile("ld.relaxed.cta.global.f64 %0, [%1];" : "=d"(value) : "l"(from) : "memory");
    return value;
}
template <word_scope Scope>
[[nodiscard]] __device__ inline float load_word(const float* from) {
    float value;
    if constexpr (Scope == word_scope::device)
        asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(from) : "memory");
    else
        asm volatile("ld.relaxed.cta.global.f32 %0, [%1];" : "=f"(value) : "l"(from) : "memory");
    return value;
}

/// Makes the value known to threads that wait for it.
template <word_scope Scope>
__device__ inline void store_known(double* to, double value) {
    if (!is_known(value)) value = __longlong_as_double(0x7ff8000000000000LL);
    if constexpr (Scope == word_scope::device)
        asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" : : "l"(to), "d"(value) : "memory");
    else
        asm volatile("st.relaxed.cta.global.f64 [%0], %1;" : : "l"(to), "d"(value) : "memory");
}
template <word_scope Scope>
__device__ inline void store_known(float* to, float value) {
    if (!is_known(value)) value = __uint_as_float(0x7fc00000u);
    if constexpr (Scope == word_scope::device)
        asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
    else
        asm volatile("st.relaxed.cta.global.f32 [%0], %1;" : : "l"(to), "f"(value) : "memory");
}

/// Marks a word as not known, for the solve after this one.
__device__ inline void store_unknown(double* to) {
    *to = __longlong_as_double(-1LL);
}
__device__ inline void store_unknown(float* to) {
    *to = __uint_as_float(0xffffffffu);
}

} // namespace krylith::cuda
