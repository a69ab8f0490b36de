// The conversions between forms of a sparse vector: kernels, which sparse_vector enqueues. k is the
// number of entries, n the size; the pairs' count is read on the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

// Each is enqueued on the device's stream. Templates exist for double, float and std::int32_t.
namespace krylith {

KRYLITH_HOST_AND_CUDA(
    /// dense[indices[k]] = values[k]. O(k).
    template <class T> void scatter_values(device& device, const spmspv::vector_arrays<T>& v);
    /// Sets the bits of the pairs' indices. O(k).
    template <class T> void scatter_bits(device& device, const spmspv::vector_arrays<T>& v);
    /// dense = absent, or bits = 0, at the pairs' indices. O(k).
    template <class T> void clean_values(device& device, const spmspv::vector_arrays<T>& v);
    template <class T> void clean_bits(device& device, const spmspv::vector_arrays<T>& v);
    /// Does both at once. O(k).
    template <class T> void clean_entries(device& device, const spmspv::vector_arrays<T>& v);
    /// dense = absent everywhere. O(n).
    template <class T> void fill_absent(device& device, const spmspv::vector_arrays<T>& v);
    /// values[k] = dense[indices[k]]. O(k).
    template <class T> void gather_values(device& device, const spmspv::vector_arrays<T>& v);
    /// Sets bits where dense differs from absent, in all words. O(n).
    template <class T> void bits_of_dense(device& device, const spmspv::vector_arrays<T>& v);
    /// Makes count and indices, ascending, from bits. O(n / 32 + k). `scratch`:
    /// list_scratch_bytes(n) bytes, 256-byte aligned.
    template <class T>
    void list_bits(device& device, const spmspv::vector_arrays<T>& v, void* scratch);
    [[nodiscard]] std::size_t list_scratch_bytes(std::int64_t n);)

} // namespace krylith
