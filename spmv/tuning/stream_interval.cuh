// Two events in the stream of a device, and the time between them.
#pragma once

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

class stream_interval {
public:
    explicit stream_interval(device& device) : device_(device) {
        const current_device current(device.ordinal());
        KRYLITH_CUDA_CHECK(cudaEventCreate(&begin_));
        const cudaError_t status = cudaEventCreate(&end_);
        if (status != cudaSuccess) cudaEventDestroy(begin_);
        KRYLITH_CUDA_CHECK(status);
    }
    stream_interval(const stream_interval&) = delete;
    stream_interval& operator=(const stream_interval&) = delete;
    ~stream_interval() {
        const current_device current(device_.ordinal());
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    void begin() { record(begin_); }
    void end() { record(end_); }
    /// Waits for the end and returns the seconds; 0 where the end was never recorded.
    [[nodiscard]] double seconds() const {
        if (!used_) return 0;
        const current_device current(device_.ordinal());
        KRYLITH_CUDA_CHECK(cudaEventSynchronize(end_));
        float milliseconds = 0;
        KRYLITH_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return 1e-3 * static_cast<double>(milliseconds);
    }
    void forget() { used_ = false; }

private:
    void record(cudaEvent_t mark) {
        const launch_scope launch(device_);
        KRYLITH_CUDA_CHECK(cudaEventRecord(mark, launch.stream()));
        used_ = mark == end_;
    }

    device& device_;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
    bool used_ = false;
};

} // namespace krylith::cuda
