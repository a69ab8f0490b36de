// Constants, shifted indices, and values from bits, in the arrays of sparse vectors, and offsets of
// another width: entries that are computed each on its own.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/device/loops/run_items.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::spmspv {

template <class T>
struct fill_task {
    T* to;
    T value;
    KRYLITH_HD void operator()(std::int64_t k) const { to[k] = value; }
};

template <class T>
struct spread_task {
    vector_arrays<T> v;
    T present;
    KRYLITH_HD void operator()(std::int64_t i) const {
        v.dense[i] = (v.bits[i / 32] >> (i % 32) & 1) != 0 ? present : v.absent;
    }
};

struct shift_task {
    const std::int32_t* from;
    std::int32_t* to;
    std::int32_t by;
    KRYLITH_HD void operator()(std::int64_t k) const { to[k] = from[k] + by; }
};

template <class From, class To>
struct copy_offsets_task {
    const From* from;
    To* to;
    KRYLITH_HD void operator()(std::int64_t k) const { to[k] = static_cast<To>(from[k]); }
};

// These functions enqueue. T: double, float, std::int32_t; fill() also takes std::uint32_t.

/// From and To are std::int32_t and std::int64_t, or the reverse.
template <class From, class To>
void copy_offsets(device& device, const From* from, To* to, std::int64_t count) {
    run_items(device, copy_offsets_task<From, To>{from, to}, count);
}

template <class T>
void fill(device& device, T* to, std::int64_t count, T value) {
    run_items(device, fill_task<T>{to, value}, count);
}

/// dense[i] = present where bit i is set, else absent.
template <class T>
void spread(device& device, const vector_arrays<T>& v, T present) {
    run_items(device, spread_task<T>{v, present}, v.size);
}

/// to[k] = from[k] + by, k < count.
inline void shift(device& device, const std::int32_t* from, std::int32_t* to, std::int64_t count,
                  std::int32_t by) {
    run_items(device, shift_task{from, to, by}, count);
}

} // namespace krylith::spmspv
