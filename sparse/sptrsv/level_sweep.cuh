// The levels of rows, found by a sweep in which each row waits for the levels of others.
#pragma once

#include <cstdint>

#include <krylith/sparse/sptrsv/row_sweep.cuh>

namespace krylith::cuda {

/// A row's level + 1, which is 0 until it is known.
struct level_work {
    using word = std::int32_t;
    struct payload {};

    std::int32_t* words;
    std::int32_t* lengths; ///< strict entries of each row
    std::int32_t below = 0;
    std::int32_t entries = 0;
    std::int32_t highest = 0;

    [[nodiscard]] static __device__ bool known(word w) { return w != 0; }
    __device__ void begin(std::int64_t) {
        below = 0;
        entries = 0;
    }
    [[nodiscard]] __device__ payload load(std::int64_t) const { return {}; }
    __device__ void pivot(payload) const {}
    [[nodiscard]] __device__ word look(std::int32_t column) const {
        word value;
        asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];"
                     : "=r"(value)
                     : "l"(words + column)
                     : "memory");
        return value;
    }
    __device__ void take(payload, word w) {
        below = max(below, w);
        ++entries;
    }
    __device__ void take_sum(int of, bool counts, payload, word w, bool) {
        const int most = __reduce_max_sync(all_lanes, counts ? w : 0);
        const int number = __popc(__ballot_sync(all_lanes, counts));
        if (lane_number() != of) return;
        below = max(below, most);
        entries += number;
    }
    __device__ void finish(std::int64_t row) {
        const std::int32_t own = below + 1;
        asm volatile("st.relaxed.gpu.global.s32 [%0], %1;"
                     :
                     : "l"(words + row), "r"(own)
                     : "memory");
        lengths[row] = entries;
        highest = max(highest, own);
    }
};

} // namespace krylith::cuda
