// y = alpha A x + beta y by merge path on arrays that lie on a CUDA device: for products that need
// no operator. Everything runs on the device, nothing is read back.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/device.hpp>
#include <krylith/sparse/merge/merge_scratch.hpp>

namespace krylith {

/// A CSR matrix and vectors in memory of one device. Offset is std::int32_t or std::int64_t.
template <class T, class Offset>
struct merge_product {
    const Offset* offsets;       ///< [rows + 1], the first is 0, the last `nonzeros`
    const std::int32_t* columns; ///< [nonzeros] into x
    const T* values;             ///< [nonzeros]
    std::int64_t rows;
    std::int64_t nonzeros;
    const T* x;
    T* y; ///< [rows], must not be x
    T alpha;
    T beta; ///< 0: y is not read
};

/// The bytes of scratch memory of a product of this size: 4 for each 1792 rows and nonzeros, and up
/// to 160 KiB (fp64).
template <class T>
[[nodiscard]] std::size_t merge_scratch_bytes(std::int64_t rows, std::int64_t nonzeros) {
    return merge_scratch<T>::bytes(rows, nonzeros);
}

namespace cuda {

/// Enqueues the search for the rows where tiles begin, which prepares `scratch` for products with
/// this pattern. `scratch` lies on the device, 16-byte aligned. Throws input_error for rows that
/// 32-bit numbers don't reach.
template <class T, class Offset>
void find_merge_tiles(device& device, const Offset* offsets, std::int64_t rows,
                      std::int64_t nonzeros, void* scratch);

/// Enqueues the product, which moves 12 nnz + 20 n bytes (fp64, 32-bit offsets). Results have the
/// same bits every time on one kind of GPU. One product at a time for each scratch.
template <class T, class Offset>
void multiply(device& device, const merge_product<T, Offset>& product, void* scratch);

} // namespace cuda

} // namespace krylith
