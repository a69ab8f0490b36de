// The product of SELL matrices most of whose rows have one stencil (stencil.hpp).
//
// A lane takes 16 bytes of consecutive rows. Of a run of three diagonals it reads the word of the
// middle one: the others lie in that word and in those of the lanes beside it, but for the ends of
// the warp. The stencil lies in shared memory, so that an entry of four rows of float takes a load
// of 16 bytes and four multiplications, and nothing of the matrix is read but what a unit is.
//
// With 64 registers a thread, which 4 blocks of a multiprocessor leave, nothing spills in the loop
// over units. Three blocks take 5% longer for CG on 256^3 rows, 7 points, and 10% with 27
// (docs/measured.md has the figures). A block that takes steps which follow each other, whose rows
// read the same lines of x, finds more of x in the first-level cache and is no faster.
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/device_matrix/stencil.hpp>
#include <krylith/sparse/epilogue/row_epilogue.cuh>
#include <krylith/sparse/sell/sell_slices.cuh>

namespace krylith::cuda {

/// The product of a unit: each lane has its consecutive rows, and the whole warp calls add_to().
template <class T, stencil_shape Shape>
class unit_product {
public:
    static constexpr int rows = lane_rows<T>;
    /// The runs whose words are in flight at once.
    static constexpr int at_once = runs_of(Shape).threes == 1 ? runs_of(Shape).count() : 3;

    __device__ unit_product(const sell_stencil<T>& stencil, bool aligned, std::uint32_t there,
                            std::uint32_t partial, const uniform_entry<T>* entries, int lane)
        : stencil_(stencil),
          // All lanes have the same. Where the compiler knows that, tests of bits don't diverge.
          there_(__reduce_or_sync(all_lanes, there)),
          partial_(__reduce_or_sync(all_lanes, partial)),
          direct_(aligned && there_ == (1u << runs().entries()) - 1),
          entries_(entries),
          lane_(lane),
          beyond_(lane == 0    ? -1
                  : lane == 31 ? rows
                               : 0) {}

    /// Adds the products of the rows, which begin at x_at_rows in x.
    __device__ void add_to(T (&sum)[rows], const T* x_at_rows) const {
        add_from<0>(sum, x_at_rows);
    }

private:
    [[nodiscard]] static constexpr stencil_runs runs() { return runs_of(Shape); }

    template <int First>
    __device__ void add_from(T (&sum)[rows], const T* x_at_rows) const {
        if constexpr (First < runs().count()) {
            T word[at_once][rows];
            T end[at_once] = {};
            if (direct_) {
#pragma unroll
                for (int g = 0; g < at_once; ++g) {
                    const T* const from = x_at_rows + stencil_.base[runs().middle(First + g)];
                    const row_word<T> w = *reinterpret_cast<const row_word<T>*>(from);
#pragma unroll
                    for (int j = 0; j < rows; ++j) word[g][j] = w.at[j];
                    if (runs().is_three(First + g) && beyond_ != 0) end[g] = from[beyond_];
                }
            } else {
#pragma unroll
                for (int g = 0; g < at_once; ++g) {
                    const int middle = runs().middle(First + g);
                    const T* const from = x_at_rows + (has(middle) ? stencil_.base[middle] : 0);
#pragma unroll
                    for (int j = 0; j < rows; ++j) word[g][j] = from[j];
                    if (runs().is_three(First + g) && has(middle) && beyond_ != 0)
                        end[g] = from[beyond_];
                }
            }
#pragma unroll
            for (int g = 0; g < at_once; ++g) add_run(sum, First + g, word[g], end[g]);
            add_from<First + at_once>(sum, x_at_rows);
        }
    }

    [[nodiscard]] __device__ bool has(int entry) const {
        return (there_ >> entry & 1) != 0;
    }
    __device__ void add_run(T (&sum)[rows], int run, T (&word)[rows], T end) const {
        if (!runs().is_three(run)) {
            add(sum, runs().first(run), word);
            return;
        }
        T before[rows];
        T after[rows];
        const T left = __shfl_up_sync(all_lanes, word[rows - 1], 1);
        const T right = __shfl_down_sync(all_lanes, word[0], 1);
        before[0] = lane_ == 0 ? end : left;
        after[rows - 1] = lane_ == 31 ? end : right;
#pragma unroll
        for (int j = 1; j < rows; ++j) {
            before[j] = word[j - 1];
            after[j - 1] = word[j];
        }
        add(sum, runs().first(run), before);
        add(sum, runs().first(run) + 1, word);
        add(sum, runs().first(run) + 2, after);
    }

    /// Adds an entry of each row; what a row lacks counts as 0.
    __device__ void add(T (&sum)[rows], int entry, T (&factor)[rows]) const {
        T here[rows];
#pragma unroll
        for (int j = 0; j < rows; ++j) here[j] = factor[j];
        if ((partial_ >> entry & 1) != 0) {
            const std::uint32_t lanes = lanes_of(entry) >> lane_ % (slice_rows / rows) * rows;
#pragma unroll
            for (int j = 0; j < rows; ++j)
                if ((lanes >> j & 1) == 0) here[j] = T(0);
        }
        const T value = stencil_.value[entry];
#pragma unroll
        for (int j = 0; j < rows; ++j) sum[j] += value * here[j];
    }

    /// The lanes of the slice that have an entry.
    [[nodiscard]] __device__ std::uint32_t lanes_of(int entry) const {
        if (!has(entry)) return 0;
        return __ldg(&entries_[__popc(there_ & ((1u << entry) - 1))].step.lanes);
    }

    const sell_stencil<T>& stencil_;
    std::uint32_t there_;
    std::uint32_t partial_;
    bool direct_;                     ///< all words are there, each in one piece
    const uniform_entry<T>* entries_; ///< of the slice of the lane
    int lane_;
    int beyond_; ///< where the entry of x beside those of the warp lies; 0: not for this lane
};

/// A block takes lane_rows<T> groups of slices at a time, a warp a unit.
template <class T, int Dots, bool Shared, stencil_shape Shape>
__global__ void __launch_bounds__(block_threads, 4)
    stencil_kernel(const __grid_constant__ compact_context parameter,
                   const __grid_constant__ spmv_operands<T> a,
                   const __grid_constant__ sell_view<T> m) {
    constexpr int rows = lane_rows<T>;
    constexpr int units = block_warps / rows; // of a group
    constexpr int lanes = slice_rows / rows;  // of a slice
    static_assert(rows == stencil_unit<T>::slices);
    constexpr stencil_runs runs = runs_of(Shape);
    __shared__ context_state state;
    __shared__ sell_stencil<T> shared;
    constexpr int most_listed = 15;
    __shared__ std::int32_t apart[block_warps][most_listed + 1];
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x) * rows;
    auto position = static_cast<std::int32_t>(blockIdx.x) * rows;
    // New values may leave a recorded product with another stencil.
    const bool known = m.stencil->shape == Shape;
    const std::int32_t all_units = (m.slices + rows - 1) / rows;
    const auto unit_at = [&](std::int32_t position) {
        const std::int32_t t = position + warp / units;
        if (t >= m.groups) return all_units;
        return (m.order != nullptr ? m.order[t] : t) * units + warp % units;
    };
    // What the next rows are is loaded one iteration ahead: their loads depend on it.
    std::int32_t unit;
    std::uint32_t there;
    std::uint32_t partial;
    std::uint32_t read;
    const auto look_up = [&] {
        unit = unit_at(position);
        there = 0;
        partial = 0;
        read = 0;
        if (unit >= all_units) return;
        const stencil_unit<T>* const u = m.units + static_cast<unsigned>(unit);
        const uint2 word = __ldg(reinterpret_cast<const uint2*>(u));
        there = word.x;
        partial = word.y;
        read = __ldg(&u->read[lane / lanes]);
    };
    look_up();
    if (static_cast<int>(threadIdx.x) < runs.entries()) {
        shared.base[threadIdx.x] = m.stencil->base[threadIdx.x];
        shared.value[threadIdx.x] = m.stencil->value[threadIdx.x];
    }
    const bool aligned = m.stencil->aligned != 0;
    if (!product_prologue<Shared>(parameter, state, a)) return; // with a barrier
    row_epilogue<T, Dots, Shared> results(state.context, a);
    int count = 0; // of units of the warp that are multiplied slice by slice
    while (position < m.groups) {
        results.before_reading(position + rows > m.interior);
        const std::int64_t mine = std::int64_t{unit} * (rows * slice_rows) + lane * rows;
        const T* x_at_rows = a.x + mine;
        // Places in x are offsets from one address, not computed anew from the row.
        asm("" : "+l"(x_at_rows));
        __builtin_assume(__isGlobal(x_at_rows));
        const bool together = known && there != 0;
        if (!together && unit < all_units) {
            // Where the list is full it ends with the position of the first that it lacks.
            if (lane == 0 && count <= most_listed)
                apart[warp][count] = count < most_listed ? unit : position;
            ++count;
        }
        const unit_product<T, Shape> product(shared, aligned, there, partial, m.uniform + read,
                                             lane);
        position += stride;
        look_up();
        T sum[rows] = {};
        T earlier[rows] = {};
        if (together) {
            results.earlier_rows(mine, earlier);
            product.add_to(sum, x_at_rows);
        }
        results.before_writing();
        if (together) results.rows(mine, sum, earlier);
    }
    // These come last: values that live across a call would spill in the loop above. All that peers
    // send is there by now.
    const auto multiply_slices = [&] {
#pragma unroll 1
        for (std::int32_t slice = unit * rows; slice < unit * rows + rows && slice < m.slices;
             ++slice) {
            const std::int64_t row = std::int64_t{slice} * slice_rows + lane;
            const bool here = row < m.row_count;
            const T sum =
                product_alone(m, slice, here ? static_cast<std::int32_t>(row) : -1, a.x, lane);
            if (here) results.row(row, sum);
        }
    };
    __syncwarp();
    const int listed = min(count, most_listed);
    position = count > most_listed ? apart[warp][most_listed] : m.groups;
#pragma unroll 1
    for (int k = 0; k < listed || position < m.groups; ++k) {
        if (k < listed) {
            unit = apart[warp][k];
        } else {
            look_up();
            position += stride;
            if (unit >= all_units || (known && there != 0)) continue;
        }
        multiply_slices();
    }
    results.leave();
}

} // namespace krylith::cuda
