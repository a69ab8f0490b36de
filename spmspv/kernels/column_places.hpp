// Where the terms of each entry of x lie among all, on CUDA.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith::cuda {

/// Plain data for kernels.
struct column_scan {
    const std::int32_t* offsets; ///< of the columns of A
    const std::int32_t* entries; ///< indices of x
    const std::int32_t* count;   ///< of x
    std::int32_t* ends;          ///< [entries] to: terms of this entry and of all before it
    std::int32_t* starts;        ///< [entries] to: where the entry's column begins in A
    std::int32_t* clear[2];      ///< numbers that are set to 0 besides, or null
};

/// `bound`: of the entries. `scratch`: scan_scratch_bytes of two_pass_scan.cuh.
void scan_columns(device& device, const column_scan& a, std::int64_t bound, void* scratch);

} // namespace krylith::cuda
