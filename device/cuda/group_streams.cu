#include <krylith/device/cuda/group_streams.cuh>

#include <algorithm>

#include <krylith/device/cuda/cuda_check.cuh>

namespace krylith::cuda {

void group_streams::add(int ordinal, cudaStream_t stream) {
    const std::lock_guard lock(lock_);
    streams_.emplace_back(ordinal, stream);
}

void group_streams::remove(cudaStream_t stream) noexcept {
    const std::lock_guard lock(lock_);
    const auto found = std::find_if(streams_.begin(), streams_.end(),
                                    [&](const auto& s) { return s.second == stream; });
    if (found != streams_.end()) streams_.erase(found);
}

bool group_streams::idle() noexcept {
    const std::lock_guard lock(lock_);
    if (recording()) return false; // to ask a stream would break its recording
    for (const auto& [ordinal, stream] : streams_) {
        const current_device current(ordinal);
        if (cudaStreamQuery(stream) == cudaSuccess) continue;
        cudaGetLastError(); // not a failure: the next launch's check should not see it
        return false;
    }
    return true;
}

bool group_streams::wait() noexcept {
    const std::lock_guard lock(lock_);
    if (recording()) return false;
    for (const auto& [ordinal, stream] : streams_) {
        const current_device current(ordinal);
        if (cudaStreamSynchronize(stream) == cudaSuccess) continue;
        cudaGetLastError();
        return false;
    }
    return true;
}

bool group_streams::recording() noexcept {
    for (const auto& [ordinal, stream] : streams_) {
        const current_device current(ordinal);
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) cudaGetLastError();
        if (status != cudaStreamCaptureStatusNone) return true;
    }
    return false;
}

} // namespace krylith::cuda
