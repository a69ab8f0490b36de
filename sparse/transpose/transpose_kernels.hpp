// The transposition of a pattern on one device, in plain arguments: by host threads and by CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/transpose/permutation.hpp>

namespace krylith {

/// A pattern to transpose, on the device.
struct pattern_view {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;
    const std::int64_t* offsets = nullptr; ///< [rows + 1]
    const std::int32_t* indices = nullptr; ///< [nonzeros]
};

/// Where the transposed arrays go: the pattern, and either values or the permutation; the others
/// are null.
template <class T>
struct transposed_arrays {
    std::int64_t* offsets = nullptr; ///< [columns + 1]
    std::int32_t* indices = nullptr; ///< [nonzeros] rows
    const T* values = nullptr;       ///< [nonzeros], of the matrix
    T* transposed_values = nullptr;  ///< [nonzeros]
    permutation_view places = {};    ///< [nonzeros]: where the entry was
};

KRYLITH_HOST_AND_CUDA(
    /// Enqueues a's transposed pattern, and where its values go.
    template <class T>
    void transpose_pattern(const std::shared_ptr<device>& on, const pattern_view& a,
                           const transposed_arrays<T>& to);

    /// Enqueues to[p] = from[places[p]].
    template <class T> void permute(device& on, const permutation_view& places, std::int64_t count,
                                    const T* from, T* to);)

} // namespace krylith
