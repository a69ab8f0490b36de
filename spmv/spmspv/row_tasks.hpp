// How balanced products deal rows to warps (streamed_rows.cuh): 32 rows each, or, where these have
// many entries, up to 4096 of their entries, so that no row stalls a warp. What the parts of 32
// rows sum up is added by the warp that comes last, in the order of the parts.
//
// Memory: 16 bytes for 32 rows, and nonzeros / 4 bytes for parts.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith::spmspv {

inline constexpr std::uint32_t row_task_entries = 4096;

struct row_task {
    std::int32_t word;  ///< of y's bits: its rows
    std::int32_t part;  ///< which of `parts`
    std::int32_t parts; ///< of these rows
    std::int32_t slot;  ///< of part 0; only where there are several
};

/// Parts of one allocation. Plain data for kernels.
struct row_tasks {
    std::int32_t* count;
    std::int32_t* slots;    ///< that are in use
    std::byte* scan;        ///< while tasks are found
    row_task* tasks;        ///< [count]
    std::uint32_t* arrived; ///< [slots] parts that are done, by the slot of part 0; 0 between products
    std::uint32_t* marks;   ///< [slots] rows that have a term
    double* sums;           ///< [32 slots] or of a smaller type

    static std::int64_t words(std::int64_t rows) { return (rows + 31) / 32; }
    /// A part in several has more than half of row_task_entries on average.
    static std::int64_t most_slots(std::int64_t nonzeros) {
        return nonzeros / (row_task_entries / 4) + 1;
    }
    static std::int64_t most(std::int64_t rows, std::int64_t nonzeros) {
        return words(rows) + most_slots(nonzeros);
    }
    static constexpr std::size_t first = 16;
    static constexpr std::size_t scan_bytes = 8192;

    [[nodiscard]] static std::size_t bytes(std::int64_t rows, std::int64_t nonzeros) {
        return first + scan_bytes +
               static_cast<std::size_t>(most(rows, nonzeros)) * sizeof(row_task) +
               static_cast<std::size_t>(most_slots(nonzeros)) *
                   (32 * sizeof(double) + 2 * sizeof(std::uint32_t));
    }
    [[nodiscard]] static row_tasks in(std::byte* memory, std::int64_t rows, std::int64_t nonzeros) {
        auto* const counts = reinterpret_cast<std::int32_t*>(memory);
        std::byte* const scan = memory + first;
        auto* const tasks = reinterpret_cast<row_task*>(scan + scan_bytes);
        auto* const sums = reinterpret_cast<double*>(tasks + most(rows, nonzeros));
        auto* const words = reinterpret_cast<std::uint32_t*>(sums + 32 * most_slots(nonzeros));
        return {counts, counts + 1, scan, tasks, words, words + most_slots(nonzeros), sums};
    }
};

} // namespace krylith::spmspv

namespace krylith::cuda {

/// Enqueues: finds the tasks of rows with these offsets [rows + 1]. `memory`: row_tasks::bytes(), 0.
/// O(rows) on the device.
void find_row_tasks(device& where, const std::int32_t* offsets, std::int64_t rows,
                    std::int64_t nonzeros, std::byte* memory);

} // namespace krylith::cuda
