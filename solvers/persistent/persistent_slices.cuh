// The slices of a SELL matrix that a block of a persistent kernel multiplies, in shared memory as
// far as they fit, and the pairs that the product gathers. Included by .cu files only.
#pragma once

#include <cstddef>
#include <cstdint>

#include <krylith/solvers/persistent/persistent_kernel.hpp>
#include <krylith/sparse/sell/sell_slices.cuh>

namespace krylith::cuda {

/// The most slices that a block can have.
inline constexpr std::int32_t block_slices = most_persistent_slices * persistent_warps;

/// The pairs of consecutive rows of a block, copied to shared memory.
template <class T>
struct near_pairs {
    direction_pair<T>* pairs; ///< pairs of rows [first, first + count)
    std::int32_t first;
    std::int32_t count;

    [[nodiscard]] __device__ bool holds(std::int32_t row) const {
        return static_cast<std::uint32_t>(row - first) < static_cast<std::uint32_t>(count);
    }
    [[nodiscard]] __device__ direction_pair<T> get(const persistent_arguments<T>& a,
                                                   std::int32_t row) const {
        return holds(row) ? pairs[row - first] : a.pairs[row];
    }
};

/// The slices of a block: a part of those without ghosts, consecutive where possible, and a part of
/// the others, so that all blocks take part in sending and waiting.
struct block_range {
    std::int64_t first;         ///< its first slice without ghosts, in the matrix's order of groups
    std::int32_t interior;      ///< its number of those
    std::int64_t first_ghostly; ///< its first slice with ghosts
    std::int32_t count;         ///< the number of both kinds

    template <class T>
    __device__ explicit block_range(const sell_view<T>& m) {
        const std::int64_t before = std::int64_t{m.interior} * block_warps;
        // Only the matrix's last group can be short, and that one comes last among its kind.
        const bool short_one =
            m.interior != 0 && (m.order == nullptr || m.order[m.interior - 1] == m.groups - 1);
        const std::int64_t inside =
            short_one ? before - (std::int64_t{m.groups} * block_warps - m.slices) : before;
        const std::int64_t outside = m.slices - inside;
        const auto before_block = [](std::int64_t slices, unsigned block) {
            return slices * block / gridDim.x;
        };
        const unsigned b = blockIdx.x;
        // Blocks have equally many slices to within one, and equally many with ghosts to within
        // one.
        first_ghostly = before + before_block(outside, b);
        first = before_block(m.slices, b) - before_block(outside, b);
        count =
            static_cast<std::int32_t>(before_block(m.slices, b + 1) - before_block(m.slices, b));
        interior = count - static_cast<std::int32_t>(before_block(outside, b + 1) -
                                                     before_block(outside, b));
    }

    /// Returns the block's slice with this number.
    template <class T>
    [[nodiscard]] __device__ std::int32_t slice(const sell_view<T>& m, std::int32_t number) const {
        const std::int64_t place =
            number < interior ? first + number : first_ghostly + (number - interior);
        const auto position = static_cast<std::int32_t>(place / block_warps);
        const std::int32_t group = m.order != nullptr ? m.order[position] : position;
        return group * block_warps + static_cast<std::int32_t>(place % block_warps);
    }
};

/// The code of a slice whose steps are in shared memory, whose rows have no ghosts and whose
/// columns are given by diagonals. Its steps are rewritten: base counted from the first owned
/// column, times 2, plus 1 where the pairs of all 32 lanes are in shared memory.
inline constexpr auto regular = static_cast<column_code>(4);

/// How heads in shared memory say so: value codes mean nothing there.
inline constexpr std::uint32_t regular_shape(std::int32_t length) {
    return slice_shape(length, column_code::diagonal, value_code::uniform);
}
[[nodiscard]] inline constexpr column_code code_of(const slice_head& head) {
    return head.values() == value_code::uniform ? regular : head.code();
}

/// The heads of a block's slices, in shared memory.
struct block_heads {
    slice_head heads[block_slices];
    std::int32_t slices[block_slices];           ///< the slices' numbers in the matrix
    std::int32_t steps_before[block_slices + 1]; ///< slice-columns of the slices before
    std::int32_t chunks_before[block_slices + 1];
};

/// The slices of a block. The heads of all are in shared memory, then the steps of as many as fit,
/// then the entries of as many as fit.
template <class T>
struct block_matrix {
    block_heads* shared;
    std::int32_t count;
    std::int32_t told; ///< slices whose steps are in shared memory
    std::int32_t near; ///< slices whose values and columns are there too; at most `told`
    T* near_values;
    slice_step* near_steps;
    std::uint32_t* near_columns;

    /// Loads the heads. All threads of the block call it once.
    __device__ void load_heads(const sell_view<T>& m, const block_range& range, block_heads& to) {
        shared = &to;
        count = range.count;
        const auto me = static_cast<std::int32_t>(threadIdx.x);
        if (me < count) {
            to.slices[me] = range.slice(m, me);
            slice_head head = load_head(m.heads + to.slices[me]);
            head.shape = slice_shape(head.length(), head.code());
            to.heads[me] = head;
        }
        __syncthreads();
        if (me < 32) add_up(me);
        __syncthreads();
    }

    /// Loads steps and entries once `pairs` are known. All threads of the block call it once.
    __device__ void load(const sell_view<T>& m, const near_pairs<T>& pairs, unsigned char* pool,
                         std::int64_t pool_bytes) {
        const auto me = static_cast<std::int32_t>(threadIdx.x);
        const std::int32_t* const steps = shared->steps_before;
        const std::int32_t* const chunks = shared->chunks_before;
        constexpr std::int64_t value_bytes = slice_rows * sizeof(T);
        const std::int64_t step_bytes = m.steps != nullptr ? sizeof(slice_step) : 0;
        told = __syncthreads_count(me < count && steps[me + 1] * step_bytes <= pool_bytes);
        const std::int64_t room = pool_bytes - steps[told] * step_bytes;
        near = __syncthreads_count(
            me < told && steps[me + 1] * value_bytes + chunks[me + 1] * column_chunk <= room);
        // The sizes of all three parts are multiples of 8 bytes.
        near_values = reinterpret_cast<T*>(pool);
        near_columns = reinterpret_cast<std::uint32_t*>(near_values + steps[near] * slice_rows);
        near_steps =
            reinterpret_cast<slice_step*>(near_columns + chunks[near] * (column_chunk / 4));
        const std::int32_t lane = me & 31;
        for (std::int32_t number = me / 32; number < told; number += persistent_warps) {
            const slice_head head = shared->heads[number];
            if (number < near) {
                const T* const from = m.values + std::int64_t{head.first} * slice_rows;
                T* const to = near_values + steps[number] * slice_rows;
                for (std::int32_t i = lane; i < head.length() * slice_rows; i += 32)
                    to[i] = __ldcs(from + i);
                const auto* const stored = reinterpret_cast<const std::uint32_t*>(
                    m.columns + std::int64_t{head.columns} * column_chunk);
                constexpr std::int32_t words = column_chunk / 4;
                for (std::int32_t i = lane; i < stored_chunks(head) * words; i += 32)
                    near_columns[chunks[number] * words + i] = stored[i];
            }
            if (m.steps != nullptr)
                load_steps(m, pairs, shared->slices[number] * slice_rows, shared->heads[number],
                           near_steps + steps[number]);
        }
    }

    /// Returns a lane's view of the slice with this number.
    __device__ slice_reader<T> slice(const sell_view<T>& m, std::int32_t number, std::int32_t row,
                                     int lane) const {
        const slice_head head = shared->heads[number];
        const std::int32_t steps = shared->steps_before[number];
        const bool here = number < near;
        return {here ? near_values + steps * slice_rows
                     : m.values + std::int64_t{head.first} * slice_rows,
                number < told ? near_steps + steps : m.steps + head.first,
                here ? reinterpret_cast<const std::byte*>(near_columns) +
                           shared->chunks_before[number] * column_chunk
                     : m.columns + std::int64_t{head.columns} * column_chunk,
                head.length(),
                row,
                code_of(head),
                lane};
    }

private:
    __device__ static std::int32_t stored_chunks(const slice_head& head) {
        return static_cast<std::int32_t>(chunks_of(head.code(), head.length()));
    }

    /// Adds up the slice-columns and chunks before each slice, by one warp. A sum stops growing
    /// once shared memory could not hold so much.
    __device__ void add_up(std::int32_t lane) {
        constexpr std::int32_t most = 1 << 24;
        std::int32_t steps = 0;
        std::int32_t chunks = 0;
        if (lane == 0) shared->steps_before[0] = shared->chunks_before[0] = 0;
        for (std::int32_t begin = 0; begin < count; begin += 32) {
            const bool here = begin + lane < count;
            const slice_head head = here ? shared->heads[begin + lane] : slice_head{};
            std::int32_t s = min(head.length(), most);
            std::int32_t p = min(head.length(), most) == most ? most : stored_chunks(head);
            const auto sum = [](std::int32_t a, std::int32_t b) { return min(a + b, most); };
            s = sum(warp_scan(s, lane, sum), steps);
            p = sum(warp_scan(p, lane, sum), chunks);
            if (here) {
                shared->steps_before[begin + lane + 1] = s;
                shared->chunks_before[begin + lane + 1] = p;
            }
            steps = __shfl_sync(0xffffffffu, s, 31);
            chunks = __shfl_sync(0xffffffffu, p, 31);
        }
    }

    /// Copies the steps of the slice whose first row is `row`, by one warp. Rewrites them, to row
    /// of a pair - row, if the slice is regular and its rows are in natural order.
    __device__ static void load_steps(const sell_view<T>& m, const near_pairs<T>& pairs,
                                      std::int32_t row, slice_head& head, slice_step* to) {
        const auto lane = static_cast<std::int32_t>(threadIdx.x & 31);
        const std::int32_t length = head.length();
        bool simple = m.rows == nullptr && head.code() == column_code::diagonal;
        for (std::int32_t k = lane; k < length; k += 32) {
            const slice_step step = load_step(m.steps + head.first + k);
            to[k] = step;
            if (step.lanes == 0) continue;
            const std::int32_t first = row + step.base - m.first_owned;
            const std::int32_t low = first + __ffs(static_cast<int>(step.lanes)) - 1;
            const std::int32_t high = first + 31 - __clz(static_cast<int>(step.lanes));
            simple = simple && low >= 0 && high < m.row_count;
        }
        if (__all_sync(0xffffffffu, simple) == 0) return;
        for (std::int32_t k = lane; k < length; k += 32) {
            const std::int32_t base = to[k].base - m.first_owned;
            const std::int32_t place = row + base - pairs.first;
            const bool inside = place >= 0 && place + slice_rows <= pairs.count;
            to[k].base = base * 2 + (inside ? 1 : 0);
        }
        __syncwarp();
        if (lane == 0) head.shape = regular_shape(length);
    }
};

} // namespace krylith::cuda
