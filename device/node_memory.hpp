// Host memory on a NUMA node, pinned for a CUDA device: partial results and staged copies of the
// devices of a node belong there.
#pragma once

#include <cstddef>
#include <memory>

#include <krylith/device/numa.hpp>

namespace krylith {

/// `bytes` zeros in host memory, freed with the object. Move-only.
class node_memory {
public:
    node_memory() = default;

    /// Allocates on the node topology.nodes[node] as long as that has memory left, then on others.
    /// With a CUDA device, which is kept alive, the memory is pinned, so that copies of all CUDA
    /// devices run by DMA and their kernels can use it; host devices and null pin nothing. Throws
    /// usage_error if there is no such node, device_error naming the bytes where there is no
    /// memory, or where CUDA can't pin it.
    node_memory(const numa_topology& topology, int node, std::size_t bytes,
                const std::shared_ptr<device>& pinned_for = nullptr);

    node_memory(node_memory&& other) noexcept { swap(other); }
    node_memory& operator=(node_memory&& other) noexcept {
        node_memory(std::move(other)).swap(*this);
        return *this;
    }
    ~node_memory();

    [[nodiscard]] std::byte* data() const noexcept { return data_; } ///< null if empty
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Returns whether the system has taken the wish for a node: never with one node or without
    /// libnuma, nor where the system lacks the node or forbids the wish.
    [[nodiscard]] bool placed() const noexcept { return placed_; }
    [[nodiscard]] bool pinned() const noexcept { return pinned_for_ != nullptr; }

    void swap(node_memory& other) noexcept;

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    bool placed_ = false;
    std::shared_ptr<device> pinned_for_;
};

} // namespace krylith
