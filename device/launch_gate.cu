#include <krylith/device/launch_gate.hpp>

#include <atomic>
#include <string>

#include <cuda.h> // types alone: the driver's function is looked up

#include <krylith/device/cuda_device.cuh>
#include <krylith/device/cuda_runtime.hpp>

namespace krylith::cuda {

namespace {

using wait_value = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// Null where the driver doesn't have it.
wait_value find_wait_value() {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &found,
                                                                12000, cudaEnableDefault, &result);
#else
    const cudaError_t status =
        cudaGetDriverEntryPoint("cuStreamWaitValue32", &found, cudaEnableDefault, &result);
#endif
    if (status != cudaSuccess) cudaGetLastError();
    return status == cudaSuccess && result == cudaDriverEntryPointSuccess
               ? reinterpret_cast<wait_value>(found)
               : nullptr;
}

} // namespace

launch_gate::launch_gate(const std::vector<std::shared_ptr<device>>& devices)
    : devices_(devices),
      word_(static_cast<std::uint32_t*>(allocate_post(*devices.front(), sizeof(std::uint32_t)))) {}

launch_gate::~launch_gate() {
    open();
    free_post(*devices_.front(), word_);
}

void launch_gate::close() {
    static const wait_value wait = find_wait_value();
    if (wait == nullptr) return;
    ++round_;
    for (const auto& where : devices_) {
        const launch_scope scope(*where);
        const CUresult status = wait(scope.stream(), reinterpret_cast<CUdeviceptr>(word_), round_,
                                     CU_STREAM_WAIT_VALUE_GEQ);
        if (status != CUDA_SUCCESS) {
            open();
            throw device_error(where->description() + " can't wait for a launch on the others: " +
                               "cuStreamWaitValue32 gives error " + std::to_string(status));
        }
    }
}

void launch_gate::open() noexcept {
    std::atomic_ref(*word_).store(round_, std::memory_order_release);
}

} // namespace krylith::cuda
