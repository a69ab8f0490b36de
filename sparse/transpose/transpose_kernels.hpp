// The transposition of a pattern on one device, in plain arguments: by host threads and by CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/loops/backend_choice.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_csr.hpp>
#include <krylith/sparse/transpose/permutation.hpp>

namespace krylith {

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
    template <class T> void transpose_pattern(const std::shared_ptr<device>& on,
                                              const csr_pattern& a, const transposed_arrays<T>& to);

    /// Enqueues to[p] = from[places[p]].
    template <class T> void permute(device& on, const permutation_view& places, std::int64_t count,
                                    const T* from, T* to);)

} // namespace krylith
