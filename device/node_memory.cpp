#include <krylith/device/numa.hpp>

#include <array>
#include <string>
#include <utility>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <krylith/config.hpp>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_memory.hpp>
#include <krylith/device/memory/memory_room.hpp>

namespace krylith {

namespace {

using std::to_string;

/// Makes pages that are not touched yet come from this node while it has any. Returns false where
/// the system refuses.
bool prefer_node(void* pointer, std::size_t bytes, int id) {
    constexpr std::size_t word = 8 * sizeof(unsigned long);
    std::array<unsigned long, 1024 / word> nodes{};
    const auto bit = static_cast<std::size_t>(id);
    if (id < 0 || bit >= word * nodes.size()) return false;
    nodes[bit / word] = 1UL << (bit % word);
    return syscall(SYS_mbind, pointer, bytes, static_cast<unsigned long>(MPOL_PREFERRED),
                   nodes.data(), word * nodes.size(), 0UL) == 0;
}

} // namespace

node_memory::node_memory(const numa_topology& topology, int node, std::size_t bytes,
                         const std::shared_ptr<device>& pinned_for)
    : size_(bytes) {
    if (node < 0 || static_cast<std::size_t>(node) >= topology.nodes.size())
        throw usage_error("node_memory: node is " + to_string(node) +
                          ", must be 0 or more and below " + to_string(topology.nodes.size()));
    if (bytes == 0) return;
    const memory_room room = find_memory_room(); // the system promises more than it has got
    data_ = bytes <= room.bytes ? static_cast<std::byte*>(map_host_memory(bytes)) : nullptr;
    if (data_ == nullptr)
        throw memory_error("node_memory: no host memory: " + shortage(bytes, room));
    if (topology.nodes.size() > 1)
        placed_ = prefer_node(data_, bytes, topology.nodes[static_cast<std::size_t>(node)].id);
#if KRYLITH_HAVE_CUDA
    if (pinned_for != nullptr && pinned_for->kind() == backend::cuda) {
        try {
            cuda::pin_host_memory(*pinned_for, data_, bytes);
        } catch (...) {
            unmap_host_memory(data_, bytes);
            throw;
        }
        pinned_for_ = pinned_for;
    }
#else
    (void)pinned_for;
#endif
}

node_memory::~node_memory() {
#if KRYLITH_HAVE_CUDA
    if (pinned_for_ != nullptr) cuda::unpin_host_memory(*pinned_for_, data_);
#endif
    unmap_host_memory(data_, size_);
}

void node_memory::swap(node_memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(placed_, other.placed_);
    std::swap(pinned_for_, other.pinned_for_);
}

} // namespace krylith
