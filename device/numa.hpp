// The NUMA nodes of the machine: which node a device is attached to, which CPUs it has, and memory
// on it. Host threads and memory that serve a device are best on its node.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

#include <krylith/device/device_group.hpp>

namespace krylith {

struct numa_node {
    int id = 0;                 ///< the system's number
    std::vector<int> cpus = {}; ///< the system's numbers

    friend bool operator==(const numa_node&, const numa_node&) = default;
};

/// The NUMA nodes. Any values can be stored, those of an absent machine too; check() says whether
/// they fit together. With one node everything here is a no-op.
struct numa_topology {
    std::vector<numa_node> nodes;
    std::vector<int> node_of_device; ///< by rank: a place in `nodes`

    friend bool operator==(const numa_topology&, const numa_topology&) = default;
};

/// One node, which holds all devices.
[[nodiscard]] numa_topology one_numa_node(int devices);

/// Finds the nodes of this machine. A CUDA device is on the node that its PCI bus is attached to,
/// as the system says; on the first where it doesn't say. Host devices are on the first: their
/// threads are not bound. There is one node where the machine has only one, and where the
/// system has no NUMA calls (or forbids them). Throws device_error where CUDA fails.
[[nodiscard]] numa_topology find_numa_topology(const device_group& group);

/// Reads the same from the files of the system, for tests: `system` stands for /sys, and each
/// device has an id ("0000:17:00.0"), empty for host devices. Nodes ascend; those without CPUs are
/// left out. There is one node without CPUs where the files say nothing.
[[nodiscard]] numa_topology read_numa_topology(const std::filesystem::path& system,
                                               std::span<const std::string> pci_bus_ids);

/// Throws usage_error naming the first violation: at least one node; ids 0 or more, ascending;
/// CPUs 0 or more, and of one node; as many devices as given, each on one of the nodes.
void check(const numa_topology& topology, int devices);

/// Keeps the calling thread, and threads that it starts meanwhile, on CPUs of a node; gives the
/// thread the CPUs back that it had. The same thread must destroy it. Only CPUs that the thread
/// could use before are taken: where there is none of them, or one node only, nothing changes.
class on_numa_node {
public:
    /// `node` is a place in topology.nodes. Throws usage_error if there is no such place.
    on_numa_node(const numa_topology& topology, int node);
    ~on_numa_node();
    on_numa_node(const on_numa_node&) = delete;
    on_numa_node& operator=(const on_numa_node&) = delete;

    [[nodiscard]] bool bound() const noexcept { return bound_; }

private:
    cpu_set_t before_{};
    bool bound_ = false;
};

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
    /// Returns whether the system has taken the wish for a node: never with one node, nor
    /// where the system lacks the node or forbids the wish.
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
