#include <krylith/device/cuda/pinned_ring.cuh>

#include <string>
#include <vector>

#include <krylith/device/cuda/cuda_check.cuh>
#include <krylith/device/cuda/cuda_runtime.hpp>

namespace krylith::cuda {

namespace {

/// A slot takes some 40 us on a link of 55 GB/s, where the begin of a copy takes 3 us. Fewer slots
/// make downloads slower: the copy engine writes at 50 GB/s into lines that the threads' caches
/// have let go, and at 30 into those that they still hold, and 8 threads' caches hold most of 8
/// MiB.
constexpr int slot_count = 8;
constexpr std::size_t bytes_of_slot = std::size_t{2} << 20;

node_memory memory_near(const device& device) {
    const std::vector<std::string> bus{pci_bus_id(device)};
    const numa_topology nodes = read_numa_topology("/sys", bus);
    return {nodes, nodes.node_of_device.front(), slot_count * bytes_of_slot};
}

} // namespace

pinned_ring::pinned_ring(const device& device, cudaStream_t stream)
    : ordinal_(device.ordinal()),
      stream_(stream),
      memory_(memory_near(device)),
      marks_(slot_count) {
    const current_device current(ordinal_);
    pin_host_memory(device, memory_.data(), memory_.size());
    pinned_ = memory_.data();
    try {
        for (mark& m : marks_)
            KRYLITH_CUDA_CHECK(cudaEventCreateWithFlags(&m.over, cudaEventDisableTiming));
    } catch (...) {
        release();
        throw;
    }
}

pinned_ring::~pinned_ring() {
    const current_device current(ordinal_);
    for (mark& m : marks_)
        if (m.waited_for) cudaEventSynchronize(m.over);
    release();
}

void pinned_ring::release() noexcept {
    for (mark& m : marks_)
        if (m.over != nullptr) cudaEventDestroy(m.over);
    if (cudaHostUnregister(pinned_) != cudaSuccess) cudaGetLastError();
}

int pinned_ring::slots() const noexcept {
    return slot_count;
}

std::size_t pinned_ring::slot_bytes() const noexcept {
    return bytes_of_slot;
}

std::byte* pinned_ring::slot(int number) const noexcept {
    return pinned_ + static_cast<std::size_t>(number) * bytes_of_slot;
}

void pinned_ring::send(int slot, void* to, std::size_t bytes) {
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(
        cudaMemcpyAsync(to, this->slot(slot), bytes, cudaMemcpyHostToDevice, stream_));
    record(slot);
}

void pinned_ring::fetch(int slot, const void* from, std::size_t bytes) {
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(
        cudaMemcpyAsync(this->slot(slot), from, bytes, cudaMemcpyDeviceToHost, stream_));
    record(slot);
}

void pinned_ring::record(int slot) {
    mark& m = marks_[static_cast<std::size_t>(slot)];
    m.waited_for = true;
    KRYLITH_CUDA_CHECK(cudaEventRecord(m.over, stream_));
}

bool pinned_ring::idle(int slot) {
    mark& m = marks_[static_cast<std::size_t>(slot)];
    if (!m.waited_for) return true;
    const cudaError_t status = cudaEventQuery(m.over);
    if (status == cudaErrorNotReady) {
        cudaGetLastError(); // not a failure: the next launch's check should not see it
        return false;
    }
    KRYLITH_CUDA_CHECK(status);
    m.waited_for = false;
    return true;
}

} // namespace krylith::cuda
