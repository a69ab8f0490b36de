// Copies between host memory and a CUDA device.
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/cuda_runtime.hpp>
#include <krylith/device/cuda/pinned_ring.cuh>
#include <krylith/device/cuda/posted_memory.hpp>
#include <krylith/device/staging/staged_transfer.hpp>

namespace krylith::cuda {

namespace {

/// Fewer bytes are uploaded by the runtime and downloaded through posted memory: where threads must
/// be woken up first, that takes longer than what they save (20 of 50 us).
constexpr std::size_t staged_from = std::size_t{512} << 10;
/// Fewer bytes pass through the ring by the calling thread alone. Lists that set-ups move are so
/// large, and come one by one: threads would have gone to sleep, or, in a thread that has no team,
/// would be started for each (multigrid's set-up on two H200 takes 91 ms in place of 136).
constexpr std::size_t shared_from = std::size_t{16} << 20;

/// Memory for what is downloaded. A copy into pageable memory would wait for all that other host
/// threads give to the stream meanwhile, and keep them from it until it is over.
class posted_copy {
public:
    posted_copy(int ordinal, std::size_t bytes) : memory_(allocate_posted_memory(ordinal, bytes)) {}
    posted_copy(const posted_copy&) = delete;
    posted_copy& operator=(const posted_copy&) = delete;
    ~posted_copy() { free_posted_memory(memory_); }
    [[nodiscard]] void* data() const noexcept { return memory_; }

private:
    void* memory_;
};

int threads_for(std::size_t bytes) {
    return bytes < shared_from ? 1 : staging_threads(1, copying_threads);
}

bool is_pageable(const void* host) {
    cudaPointerAttributes attributes{};
    KRYLITH_CUDA_CHECK(cudaPointerGetAttributes(&attributes, host));
    return attributes.type == cudaMemoryTypeUnregistered;
}

} // namespace

bool cuda_device::recording() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    KRYLITH_CUDA_CHECK(cudaStreamIsCapturing(stream_, &status));
    return status != cudaStreamCaptureStatusNone;
}

staging_wire* cuda_device::staging_for(const void* host, std::size_t bytes) {
    if (bytes < staged_from) return nullptr;
    const current_device current(ordinal_);
    if ((host != nullptr && !is_pageable(host)) || recording()) return nullptr;
    const std::lock_guard lock(ring_lock_); // set-ups have several threads
    if (ring_ == nullptr && !no_ring_) {
        try {
            ring_ = std::make_unique<pinned_ring>(*this, stream_);
        } catch (const device_error&) {
            no_ring_ = true; // the runtime copies, at a lower rate
        }
    }
    return ring_.get();
}

void cuda_device::begin_upload(void* to, const void* from, std::size_t bytes) {
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
}

void cuda_device::begin_download(void* to, const void* from, std::size_t bytes) {
    const current_device current(ordinal_);
    KRYLITH_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
}

void cuda_device::upload(void* to, const void* from, std::size_t bytes) {
    if (staging_wire* const wire = staging_for(from, bytes)) {
        const staged_request all{
            wire, static_cast<std::byte*>(to), bytes,
            [from](std::byte* staging, std::size_t first, std::size_t count) {
                write_staging(staging, static_cast<const std::byte*>(from) + first, count);
            }};
        return staged_upload({&all, 1}, threads_for(bytes));
    }
    const current_device current(ordinal_);
    begin_upload(to, from, bytes);
    if (!is_pageable(from)) synchronize(); // a pageable source has been read
}

void cuda_device::download(void* to, const void* from, std::size_t bytes) {
    serve_while_busy();
    if (staging_wire* const wire = staging_for(to, bytes)) {
        const staged_request all{
            wire, static_cast<std::byte*>(const_cast<void*>(from)), bytes,
            [to](const std::byte* staging, std::size_t first, std::size_t count) {
                read_staging(static_cast<std::byte*>(to) + first, staging, count);
            }};
        return staged_download({&all, 1}, threads_for(bytes));
    }
    if (bytes >= staged_from) { // into pinned memory, or there is no ring
        begin_download(to, from, bytes);
        return synchronize();
    }
    const posted_copy copy(ordinal_, bytes);
    begin_download(copy.data(), from, bytes);
    cuda_event(ordinal_, stream_).wait();
    std::memcpy(to, copy.data(), bytes);
}

staging_wire* staging_for(device& device, const void* host, std::size_t bytes) {
    return static_cast<cuda_device&>(device).staging_for(host, bytes);
}

void begin_upload(device& device, void* to, const void* from, std::size_t bytes) {
    static_cast<cuda_device&>(device).begin_upload(to, from, bytes);
}

void begin_download(device& device, void* to, const void* from, std::size_t bytes) {
    static_cast<cuda_device&>(device).begin_download(to, from, bytes);
}

std::vector<std::int64_t> download_numbers(device& on,
                                           std::span<const std::int64_t* const> places) {
    on.serve_while_busy();
    auto& from = static_cast<cuda_device&>(on);
    const posted_copy copy(from.ordinal(), places.size_bytes());
    auto* const numbers = static_cast<std::int64_t*>(copy.data());
    for (std::size_t i = 0; i < places.size(); ++i)
        from.begin_download(numbers + i, places[i], sizeof(std::int64_t));
    cuda_event(from.ordinal(), from.stream()).wait();
    return {numbers, numbers + places.size()};
}

} // namespace krylith::cuda
