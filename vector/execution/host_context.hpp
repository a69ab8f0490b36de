// The prologue and the epilogue of a kernel on a host device: the waits and the arithmetic of the
// kernel context, and the all-reduce.
#pragma once

#include <cstdint>

#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith::host {

/// The largest number of chunks that a reducing kernel divides its entries into, whatever the
/// number of threads: partial sums of chunks, added in order, have the same bits with any team.
inline constexpr std::int64_t reduction_chunks = 1024;

/// The values of a kernel's scalars.
struct registers {
    double value[max_registers] = {};

    [[nodiscard]] double& operator[](std::uint8_t number) { return value[number]; }
    [[nodiscard]] double operator[](std::uint8_t number) const { return value[number]; }
};

/// Waits, adds up the batch under way, and runs the program. Returns false where the kernel must
/// return at once: the loop has stopped (and the kernel context is guarded), or a rank has failed.
[[nodiscard]] bool kernel_prologue(const kernel_context& context, registers& reg);

/// Adds up `chunks` partial sums for each value and posts the results to all ranks, as one batch.
void publish(const kernel_context& context, const reduction& sums, std::int64_t chunks);

} // namespace krylith::host
