// The argument that every kernel of an iteration takes besides its own: scalars, all-reduce, waits.
#pragma once

#include <cstdint>

#include <krylith/comm/channel/channel_view.hpp>
#include <krylith/device/kernel/all_reduce_slots.hpp>
#include <krylith/vector/execution/scalar_program.hpp>

namespace krylith {

inline constexpr int max_signals = 2;

/// The bytes of a program (sums, loads, stores, instructions, immediates) that any kernel takes; a
/// kernel of its own runs a longer program. The limit is small because every block reads the
/// program.
inline constexpr int kernel_program_bytes = 160;
/// The bytes of the longest program, for kernels that take any.
inline constexpr int longest_program_bytes =
    max_sums + 4 * max_registers + 4 * max_instructions + 8 * max_immediates + 8;

/// The numbers before the partial sums of a batch. The last of them says how many partial sums a
/// value has.
inline constexpr int partials_header = 32;

/// Plain data, passed to kernels by value (under 1 KiB). A kernel
///  1. waits for the signals and adds up the batch under way (if any),
///  2. loads registers and runs the program; block 0 stores the results,
///  3. returns at once if it is guarded and the loop has stopped: then it only carries over the
///     scalars that it would have assigned.
struct kernel_context {
    scalar_program program;
    all_reduce_slots all_reduce;
    double* slots;            ///< two places a register
    double* array;            ///< scalars by index (GMRES: columns of the Hessenberg matrix)
    iteration_record history; ///< on rank 0
    /// Partial sums of the batch under way (CUDA). They lie in one of two halves in turn: a block
    /// that starts late still reads them when others have left those of the next batch.
    const double* partials;
    std::int64_t partial_stride; ///< distance between the partial sums of one value and of the next
    put_signal signals[max_signals];
    std::int32_t signal_count;
    std::int32_t batch;       ///< values of the reduction under way, 0: none
    std::int32_t batch_array; ///< their first place in `array`, or -1: they go to program.sums
    bool guarded;
};

/// The place where a kernel leaves dot products: partial sums of its blocks, which the last block
/// adds up and publishes as one batch.
struct reduction {
    double* partials;   ///< [count][blocks], on CUDA [count][kernel_context::partial_stride] behind
                        ///< partials_header numbers
    std::int32_t count; ///< values, 0: the kernel publishes nothing
};

} // namespace krylith
