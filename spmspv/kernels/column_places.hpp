// The places of the terms of each entry of x among all, on CUDA.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith::cuda {

/// Arguments of the scan; plain data for kernels.
struct column_scan {
    const std::int32_t* offsets; ///< offsets of the columns of A
    const std::int32_t* entries; ///< indices of x
    const std::int32_t* count;   ///< entries of x
    std::int32_t* ends;          ///< [entries] out: terms of this entry and of all before it
    std::int32_t* starts;        ///< [entries] out: first place of the entry's column in A
    std::int32_t* clear[2];      ///< numbers that are also set to 0, or null
};

/// Enqueues the scan. `bound` is at least the number of entries. `scratch` has scan_scratch_bytes
/// (two_pass_scan.cuh).
void scan_columns(device& device, const column_scan& a, std::int64_t bound, void* scratch);

} // namespace krylith::cuda
