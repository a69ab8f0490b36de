#include <krylith/device/cuda/stream_write.cuh>

#include <string>

#include <cuda.h>

#include <krylith/device/cuda/cuda_check.cuh>

namespace krylith::cuda {

namespace {

using write_function = CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned);

/// The runtime has no such function, and the library links no driver.
write_function find_write() {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    constexpr const char* name = "cuStreamWriteValue64";
#if CUDART_VERSION >= 12050
    constexpr unsigned version = 12000;
    KRYLITH_CUDA_CHECK(
        cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &result));
#else
    KRYLITH_CUDA_CHECK(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result));
#endif
    if (result != cudaDriverEntryPointSuccess || found == nullptr)
        throw device_error(std::string("the CUDA driver has no ") + name);
    return reinterpret_cast<write_function>(found);
}

} // namespace

void write_in_order(cudaStream_t stream, std::uint64_t* target, std::uint64_t word) {
    static const write_function write = find_write();
    const CUresult status =
        write(stream, reinterpret_cast<CUdeviceptr>(target), word, CU_STREAM_WRITE_VALUE_DEFAULT);
    if (status != CUDA_SUCCESS)
        throw device_error("cuStreamWriteValue64 has failed with CUDA driver error " +
                           std::to_string(static_cast<int>(status)));
}

} // namespace krylith::cuda
