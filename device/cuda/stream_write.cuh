// A word that a stream writes by itself, without a kernel or a copy engine.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace krylith::cuda {

/// Writes a word to memory of the current device after the work of the stream so far. Whoever sees
/// the word sees what that work has written. Throws device_error, also where the driver or the GPU
/// can't (before compute capability 7.0).
void write_in_order(cudaStream_t stream, std::uint64_t* target, std::uint64_t word);

} // namespace krylith::cuda
