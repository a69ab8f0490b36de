// Checked CUDA runtime calls, and work on a device without disturbing the caller's choice of one.
#pragma once

#include <string>

#include <cuda_runtime.h>

#include <krylith/device/error.hpp>
#include <krylith/device/host/forks.hpp>

namespace krylith::cuda {

[[noreturn]] inline void fail(cudaError_t status, const char* what, const char* file, int line) {
    throw device_error(std::string(what) + ": " + cudaGetErrorName(status) + " (" +
                       cudaGetErrorString(status) + ") at " + file + ":" + std::to_string(line) +
                       cuda_after_fork());
}

inline void check(cudaError_t status, const char* what, const char* file, int line) {
    if (status == cudaSuccess) return;
    cudaGetLastError(); // errors that are not sticky end here; the next call starts clean
    fail(status, what, file, line);
}

/// Makes a device current; restores the caller's.
class current_device {
public:
    explicit current_device(int ordinal) {
        cudaGetDevice(&before_);
        if (before_ != ordinal) cudaSetDevice(ordinal);
        changed_ = before_ != ordinal;
    }
    current_device(const current_device&) = delete;
    current_device& operator=(const current_device&) = delete;
    ~current_device() {
        if (changed_) cudaSetDevice(before_);
    }

private:
    int before_ = 0;
    bool changed_ = false;
};

} // namespace krylith::cuda

/// Evaluates a CUDA runtime call and throws device_error with its text if it failed.
#define KRYLITH_CUDA_CHECK(call) ::krylith::cuda::check((call), #call, __FILE__, __LINE__)
