// The streams of a device group, which memory that one of its devices frees waits for.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace krylith::cuda {

/// The streams on which kernels and copies of one group run. Those of one device may read and write
/// the memory of another, so that freed memory is clean only when all of them are. Thread-safe.
class group_streams {
public:
    void add(int ordinal, cudaStream_t stream);
    /// The stream is idle, or whoever removes it waits for it.
    void remove(cudaStream_t stream) noexcept;

    /// Returns whether all work of all streams is done; false where a loop is being recorded.
    [[nodiscard]] bool idle() noexcept;
    /// Waits for all streams. Returns false, at once, where a loop is being recorded, and where a
    /// device has failed.
    [[nodiscard]] bool wait() noexcept;

private:
    [[nodiscard]] bool recording() noexcept;
    std::mutex lock_;
    std::vector<std::pair<int, cudaStream_t>> streams_; ///< with the ordinals of their devices
};

} // namespace krylith::cuda
