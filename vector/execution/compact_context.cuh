// The kernel context as a parameter of CUDA kernels, packed into about 400 bytes. Every block first
// copies it to shared memory, by one load a thread of its first warp. Reading kernel parameters
// here and there, where one load tells the place of the next, costs about 2 us a CG iteration
// (three kernels).
#pragma once

#include <cstdint>
#include <cstring>

#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith::cuda {

template <int TextBytes>
struct alignas(16) packed_context {
    double* slots;
    const double* partials;
    std::uint64_t* published;
    std::int32_t* failure;
    stamped_value* own_slots;
    std::int32_t partial_stride;
    std::int32_t batch;
    std::int32_t batch_array;
    std::int16_t sources;
    bool guarded;
    std::uint8_t signal_count;
    std::uint8_t load_count;
    std::uint8_t store_count;
    std::uint8_t instruction_count;
    std::uint16_t first_instruction; ///< in text
    std::uint16_t first_immediate;   ///< in text
    /// The program: sums, loads, stores, instructions (4-byte aligned), immediates (8-byte
    /// aligned).
    alignas(8) std::uint8_t text[TextBytes];
    all_reduce_slots all_reduce;
    double* array;
    iteration_record history;
    put_signal signals[max_signals];

    [[nodiscard]] __device__ int sum(int v) const { return text[v]; }
    [[nodiscard]] __device__ scalar_place load(int i) const { return place(max_sums + 2 * i); }
    [[nodiscard]] __device__ scalar_place store(int i) const {
        return place(max_sums + 2 * (load_count + i));
    }
    [[nodiscard]] __device__ int size() const { return instruction_count; }
    [[nodiscard]] __device__ scalar_instruction instruction(int i) const {
        return *reinterpret_cast<const scalar_instruction*>(text + first_instruction + 4 * i);
    }
    [[nodiscard]] __device__ double immediate(int i) const {
        return *reinterpret_cast<const double*>(text + first_immediate + 8 * i);
    }

private:
    [[nodiscard]] __device__ scalar_place place(int at) const { return {text[at], text[at + 1]}; }
};

using compact_context = packed_context<kernel_program_bytes>;

/// The context of kernels that only run programs, or run once a solve: any program fits.
using long_context = packed_context<longest_program_bytes>;

/// Packs a kernel context. The program must fit: execution makes sure of it.
template <class Packed>
[[nodiscard]] Packed pack_context(const kernel_context& context) {
    Packed c{};
    c.slots = context.slots;
    c.partials = context.partials;
    c.published = context.all_reduce.published;
    c.failure = context.all_reduce.failure;
    c.own_slots = context.all_reduce.own_slots;
    c.partial_stride = static_cast<std::int32_t>(context.partial_stride);
    c.batch = context.batch;
    c.batch_array = context.batch_array;
    c.sources = static_cast<std::int16_t>(context.all_reduce.sources);
    c.guarded = context.guarded;
    c.signal_count = static_cast<std::uint8_t>(context.signal_count);
    c.all_reduce = context.all_reduce;
    c.array = context.array;
    c.history = context.history;
    for (int i = 0; i < max_signals; ++i) c.signals[i] = context.signals[i];

    const scalar_program& p = context.program;
    c.load_count = p.load_count;
    c.store_count = p.store_count;
    c.instruction_count = p.instruction_count;
    std::size_t at = 0;
    const auto append = [&](const auto* from, int count, std::size_t alignment) {
        at = (at + alignment - 1) / alignment * alignment;
        const std::size_t start = at;
        std::memcpy(c.text + at, from, static_cast<std::size_t>(count) * sizeof *from);
        at += static_cast<std::size_t>(count) * sizeof *from;
        return static_cast<std::uint16_t>(start);
    };
    append(p.sums, max_sums, 1);
    append(p.loads, p.load_count, 1);
    append(p.stores, p.store_count, 1);
    c.first_instruction = append(p.instructions, p.instruction_count, 4);
    c.first_immediate = append(p.immediates, p.immediate_count, 8);
    return c;
}

[[nodiscard]] inline compact_context compact(const kernel_context& context) {
    return pack_context<compact_context>(context);
}

} // namespace krylith::cuda
