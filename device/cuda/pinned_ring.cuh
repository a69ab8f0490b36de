// The staging memory of a CUDA device.
#pragma once

#include <vector>

#include <cuda_runtime.h>

#include <krylith/device/numa.hpp>
#include <krylith/device/staging/staging_wire.hpp>

namespace krylith::cuda {

/// Slots in pinned memory, 16 MiB together, on the NUMA node of the device where that is known. It
/// takes about 3 ms to make them.
class pinned_ring final : public staging_wire {
public:
    /// Throws device_error where there is no pinned memory.
    pinned_ring(const device& device, cudaStream_t stream);
    pinned_ring(const pinned_ring&) = delete;
    pinned_ring& operator=(const pinned_ring&) = delete;
    /// Waits for the copies that were begun.
    ~pinned_ring() override;

    [[nodiscard]] int slots() const noexcept override;
    [[nodiscard]] std::size_t slot_bytes() const noexcept override;
    [[nodiscard]] std::byte* slot(int number) const noexcept override;
    void send(int slot, void* to, std::size_t bytes) override;
    void fetch(int slot, const void* from, std::size_t bytes) override;
    [[nodiscard]] bool idle(int slot) override;

private:
    struct mark {
        cudaEvent_t over = nullptr;
        bool waited_for = false; ///< whether a copy was begun and not seen to be over
    };
    void release() noexcept;
    void record(int slot);

    int ordinal_;
    cudaStream_t stream_;
    node_memory memory_;
    std::byte* pinned_ = nullptr; ///< the memory once it is pinned
    std::vector<mark> marks_;     ///< [slots]
};

} // namespace krylith::cuda
