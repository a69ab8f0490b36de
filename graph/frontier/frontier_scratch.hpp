// The scratch memory in which the blocks of frontier.cu exchange numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/kernel/all_reduce_slots.hpp>

namespace krylith::spmspv {

/// The most blocks of kernels that leave numbers or sums by warp or block.
inline constexpr unsigned frontier_blocks = 512;

/// The most sums that a kernel forms at once.
inline constexpr int frontier_sums = 3;

/// Totals over all blocks, which are zero between kernels.
struct frontier_totals {
    unsigned long long sums[1 + max_gpus];
    unsigned finished; ///< blocks that have finished
};

/// Plain pointers into the scratch memory.
struct frontier_scratch {
    frontier_totals* totals;
    double* partials;           ///< [frontier_sums][frontier_blocks]
    std::int32_t* kept_by_warp; ///< [8 frontier_blocks]
    std::uint32_t* keep;        ///< a bit for each pair
    double* sums_of_words;      ///< [frontier_sums][words of 32 rows]; shares its memory with
                                ///< `keep`

    static constexpr std::size_t totals_bytes = 256;
    static constexpr std::size_t partials_bytes = frontier_sums * frontier_blocks * sizeof(double);
    static constexpr std::size_t kept_bytes = 8 * frontier_blocks * sizeof(std::int32_t);
    static_assert(sizeof(frontier_totals) <= totals_bytes);

    [[nodiscard]] static frontier_scratch in(std::byte* memory) {
        std::byte* const partials = memory + totals_bytes;
        std::byte* const kept = partials + partials_bytes;
        std::byte* const of_words = kept + kept_bytes;
        return {reinterpret_cast<frontier_totals*>(memory), reinterpret_cast<double*>(partials),
                reinterpret_cast<std::int32_t*>(kept), reinterpret_cast<std::uint32_t*>(of_words),
                reinterpret_cast<double*>(of_words)};
    }
    [[nodiscard]] static std::size_t bytes(std::int64_t rows) {
        return totals_bytes + partials_bytes + kept_bytes +
               static_cast<std::size_t>((rows + 31) / 32) * frontier_sums * sizeof(double);
    }
};

} // namespace krylith::spmspv
