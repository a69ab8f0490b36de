#include <krylith/sparse/csr/gathered_rows_host.hpp>

#if defined(__x86_64__) && defined(__FMA__)
#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <iterator>

#include <krylith/sparse/csr/fetch_ahead.hpp>

namespace krylith::host {

bool gathers() noexcept {
    static const bool found = [] {
        constexpr unsigned fp16 = 1U << 23; // of edx; nothing older than Sapphire Rapids has it
        unsigned a = 0;
        unsigned b = 0;
        unsigned c = 0;
        unsigned d = 0;
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & fp16) != 0 &&
               __builtin_cpu_supports("avx512vl") != 0;
    }();
    return found;
}

} // namespace krylith::host

// What follows is compiled for processors with AVX-512, whatever the others are compiled for.
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl")
#endif

namespace krylith::host {

namespace {

/// A vector of 64 bytes of numbers of T, and of as many places in arrays.
template <class T>
struct wide;

template <>
struct wide<float> {
    static constexpr int size = 16;
    using numbers = __m512;
    using places = __m512i;
    using mask = __mmask16;
    static numbers plus_product(numbers sum, mask m, numbers a, numbers b) {
        return _mm512_mask3_fmadd_ps(a, b, sum, m);
    }
    static numbers gather(mask m, const float* from, places at) {
        return _mm512_mask_i32gather_ps(numbers{}, m, at, from, sizeof(float));
    }
    static void store(float* to, numbers v) { _mm512_storeu_ps(to, v); }
    static places load(const std::int32_t* from) { return _mm512_loadu_si512(from); }
    static places load(mask m, const std::int32_t* from) {
        return _mm512_maskz_loadu_epi32(m, from);
    }
    static places all(std::int32_t k) { return _mm512_set1_epi32(k); }
    static places plus(places a, places b) { return _mm512_add_epi32(a, b); }
    static places minus(places a, places b) { return _mm512_sub_epi32(a, b); }
    static mask less(places a, places b) { return _mm512_cmplt_epi32_mask(a, b); }
};

template <>
struct wide<double> {
    static constexpr int size = 8;
    using numbers = __m512d;
    using places = __m256i;
    using mask = __mmask8;
    static numbers plus_product(numbers sum, mask m, numbers a, numbers b) {
        return _mm512_mask3_fmadd_pd(a, b, sum, m);
    }
    static numbers gather(mask m, const double* from, places at) {
        return _mm512_mask_i32gather_pd(numbers{}, m, at, from, sizeof(double));
    }
    static void store(double* to, numbers v) { _mm512_storeu_pd(to, v); }
    static places load(const std::int32_t* from) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    }
    static places load(mask m, const std::int32_t* from) {
        return _mm256_maskz_loadu_epi32(m, from);
    }
    static places all(std::int32_t k) { return _mm256_set1_epi32(k); }
    static places plus(places a, places b) { return _mm256_add_epi32(a, b); }
    static places minus(places a, places b) { return _mm256_sub_epi32(a, b); }
    static mask less(places a, places b) { return _mm256_cmplt_epi32_mask(a, b); }
};

/// The sums of a vector of rows, with the bits of row_product(). `begins` are the places of the
/// rows' entries, and of those behind, in `values` and in `from_x`, what x has for each.
template <class T>
inline void add_up_rows(const T* values, const T* from_x, const std::int32_t* begins,
                        std::int32_t longest, T* sums) {
    using v = wide<T>;
    const typename v::places lengths = v::minus(v::load(begins + 1), v::load(begins));
    const auto one = v::all(1);
    typename v::places at = v::load(begins);
    auto sum = typename v::numbers{};
    // A row that has ended adds 0 to its sum, which is none of -0.
    for (std::int32_t k = 0; k < longest; k += 8) { // as row_product() does
        auto even = typename v::numbers{};
        auto odd = typename v::numbers{};
        for (std::int32_t entry = k; entry < std::min(k + 8, longest); entry += 2) {
            const auto has_even = v::less(v::all(entry), lengths);
            even = v::plus_product(even, has_even, v::gather(has_even, values, at),
                                   v::gather(has_even, from_x, at));
            at = v::plus(at, one);
            const auto has_odd = v::less(v::all(entry + 1), lengths);
            odd = v::plus_product(odd, has_odd, v::gather(has_odd, values, at),
                                  v::gather(has_odd, from_x, at));
            at = v::plus(at, one);
        }
        sum += even + odd;
    }
    v::store(sums, sum);
}

} // namespace

template <class T, class Offset>
bool gather_rows(const Offset* offsets, const std::int32_t* columns, const T* values, const T* x,
                 T* sums) {
    using v = wide<T>;
    constexpr int rows = gathered_rows;
    constexpr int parts = rows / v::size;
    std::int32_t begins[rows + 1];
    for (int r = 0; r <= rows; ++r) begins[r] = static_cast<std::int32_t>(offsets[r] - offsets[0]);
    std::int32_t longest[parts];
    for (int part = 0; part < parts; ++part) {
        std::int32_t most = 0;
        for (int r = part * v::size; r < (part + 1) * v::size; ++r)
            most = std::max(most, begins[r + 1] - begins[r]);
        longest[part] = most;
    }
    if (*std::max_element(longest, std::end(longest)) > longest_gathered_row) return false;

    alignas(64) T from_x[rows * longest_gathered_row];
    for (std::int32_t k = 0; k < begins[rows]; k += v::size) {
        const std::int32_t left = begins[rows] - k;
        const auto m = static_cast<typename v::mask>(left >= v::size ? ~0U : (1U << left) - 1);
        v::store(from_x + k, v::gather(m, x, v::load(m, columns + k)));
        fetch_ahead(columns + k, values + k);
    }
    for (int part = 0; part < parts; ++part)
        add_up_rows(values, from_x, begins + part * v::size, longest[part], sums + part * v::size);
    return true;
}

#define KRYLITH_INSTANTIATE(T, Offset)                                                             \
    template bool gather_rows(const Offset*, const std::int32_t*, const T*, const T*, T*);

KRYLITH_INSTANTIATE(double, std::int32_t)
KRYLITH_INSTANTIATE(double, std::int64_t)
KRYLITH_INSTANTIATE(float, std::int32_t)
KRYLITH_INSTANTIATE(float, std::int64_t)
#undef KRYLITH_INSTANTIATE

} // namespace krylith::host

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
bool krylith::host::gathers() noexcept {
    return false;
}
#endif
