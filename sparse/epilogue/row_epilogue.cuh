// What becomes of the sums of rows, whatever format computes them: y, dot products, the devices
// that need them. A kernel of a format is a schedule of rows and their arithmetic; the rest is
// here.
//
//     __shared__ context_state state;
//     if (!product_prologue<Shared>(parameter, state, a)) return;
//     row_epilogue<T, Dots, Shared> rows(state.context, a);
//     for (...) {
//         rows.before_reading(position >= interior); // the whole block, before it reads x
//         sum = ...
//         rows.before_writing();                     // the whole block
//         rows.row(i, sum);                          // one thread for each row
//     }
//     rows.leave();                                  // the whole block
//
// launch_rows.cuh chooses `Dots`, the number of dot products, and `Shared`: products that have rows
// in common with peers have kernels of their own, because what they look for beside would cost the
// others up to 4% of an iteration of CG. Sums of peers are no matter of single rows: the last block
// adds them.
#pragma once

#include <cstdint>

#include <krylith/sparse/epilogue/product_prologue.cuh>
#include <krylith/sparse/epilogue/row_signals.cuh>

namespace krylith::cuda {

/// Consecutive rows that a lane may take at once: 16 bytes of a vector.
template <class T>
inline constexpr int lane_rows = 16 / static_cast<int>(sizeof(T));
template <class T>
struct alignas(16) row_word {
    T at[lane_rows<T>];
};

template <class T, int Dots, bool Shared>
class row_epilogue {
public:
    /// Tells the peers that the last results are read; the whole block makes it after the prologue.
    __device__ row_epilogue(const compact_context& context, const spmv_operands<T>& a)
        : context_(context), a_(a), ghosts_there_(a.ghosts.senders == 0) {
        give_result_credit(a);
    }

    /// Comes before the entries of x for some rows are read: where any of them is of the boundary,
    /// it waits for what peers send. The whole block calls it.
    __device__ void before_reading(bool boundary) {
        if (ghosts_there_ || !boundary) return;
        wait_for(context_, a_.ghosts);
        ghosts_there_ = true;
    }

    /// Comes before the first row() of some rows. The whole block calls it.
    __device__ void before_writing() {
        if (receivers_ready_) return;
        wait_for_receivers(context_, a_);
        receivers_ready_ = true;
    }

    /// Takes the sum of row `row` of the block, from one thread.
    __device__ void row(std::int64_t row, T sum) {
        if constexpr (Shared && Dots == 0) {
            if (a_.put.targets != nullptr) {
                *a_.put.targets[row] = a_.alpha * sum;
                return;
            }
        }
        bool sent = true;
        bool counted = true;
        if (a_.map.count != 0) {
            sent = row < a_.map.alone;
            row = a_.map.at(row);
            if (row >= a_.map.rows) return;
            counted = sent || (row >= a_.map.counted_begin && row < a_.map.counted_end);
        }
        T y = a_.alpha * sum;
        if (a_.beta != T(0)) y += a_.beta * a_.y[row];
        a_.y[row] = y;
        pass_on(row, y, sent, counted);
    }

    /// What y had in row `row` of a block without a map and targets, if it counts, else 0: for
    /// kernels that read it before they have the row's sum.
    [[nodiscard]] __device__ T earlier(std::int64_t row) const {
        return a_.beta != T(0) ? a_.y[row] : T(0);
    }
    /// Takes the sum of a row, as row() does, with what earlier() returned.
    __device__ void row(std::int64_t row, T sum, T earlier) {
        T y = a_.alpha * sum;
        if (a_.beta != T(0)) y += a_.beta * earlier;
        a_.y[row] = y;
        pass_on(row, y, true, true);
    }

    /// The same for the consecutive rows of a lane, which begin at a multiple of 16 bytes, as y,
    /// its copies and the vectors of the dot products do. A word goes to each peer in one piece:
    /// lanes that sent their rows one after the other would half fill the lines that cross the
    /// link.
    __device__ void earlier_rows(std::int64_t first, T (&to)[lane_rows<T>]) const {
        row_word<T> y{};
        if (a_.beta != T(0)) y = *reinterpret_cast<const row_word<T>*>(a_.y + first);
#pragma unroll
        for (int j = 0; j < lane_rows<T>; ++j) to[j] = y.at[j];
    }
    __device__ void rows(std::int64_t first, const T (&sum)[lane_rows<T>],
                         const T (&earlier)[lane_rows<T>]) {
        row_word<T> y;
#pragma unroll
        for (int j = 0; j < lane_rows<T>; ++j) {
            y.at[j] = a_.alpha * sum[j];
            if (a_.beta != T(0)) y.at[j] += a_.beta * earlier[j];
        }
        *reinterpret_cast<row_word<T>*>(a_.y + first) = y;
        if (a_.put.channel.receivers != 0)
            for_receivers([&](T* copy) { *reinterpret_cast<row_word<T>*>(copy + first) = y; });
#pragma unroll
        for (int d = 0; d < Dots; ++d) {
            row_word<T> other = y;
            if (a_.dot_with[d] != nullptr)
                other = *reinterpret_cast<const row_word<T>*>(a_.dot_with[d] + first);
#pragma unroll
            for (int j = 0; j < lane_rows<T>; ++j)
                if (counts_now(first + j))
                    dots_[d] += static_cast<double>(y.at[j]) * static_cast<double>(other.at[j]);
        }
    }

    /// Takes a row whose result is in y already.
    __device__ void written(std::int64_t row) {
        pass_on(row, a_.y[row], true, true);
    }

    /// Ends the kernel: the dot products and what peers wait for. The whole block calls it last.
    __device__ void leave() {
        if constexpr (Shared)
            if (a_.partials.count != 0) return leave(false, [] {});
        bool last = false;
        if constexpr (Dots > 0) {
            last = reduce_and_post(context_, a_.reduce, dots_);
        } else {
            if (!tells_peers<Shared>(a_)) return;
            last = last_block(context_.all_reduce.signals);
            if (last && threadIdx.x == 0) *context_.all_reduce.signals = 0;
        }
        if (last) tell_peers<Shared>(a_);
    }

    /// Ends a kernel in which rows may lie in several blocks. Where `joins`, the last block calls
    /// join() when all others are done; it calls before_writing() and row() for such rows, each of
    /// which no block has written. The last block differs from run to run: its dot products are
    /// added to those of block 0, so that sums have the same order. Late rows come after these.
    template <class Join>
    __device__ void leave(bool joins, Join join) {
        store_dots(blockIdx.x, false);
        const bool one_rank = context_.all_reduce.ranks == 1;
        if (Dots > 0 && one_rank && blockIdx.x == 0 && threadIdx.x == 0)
            a_.reduce.partials[-1] = gridDim.x;
        const bool posts = Dots > 0 && !one_rank;
        const bool late = Shared && a_.partials.count != 0;
        if (!posts && !joins && !late && !tells_peers<Shared>(a_)) return;
        if (!last_block(context_.all_reduce.signals)) return;
        if (threadIdx.x == 0) *context_.all_reduce.signals = 0;
        if (joins) join();
        if constexpr (Shared) {
            if (late) {
                wait_for(context_, a_.partials.arrived);
                complete_late_rows();
            }
        }
        if (joins || late) store_dots(0, true);
        __syncthreads();
        if (posts) post_batch(context_, a_.reduce);
        tell_peers<Shared>(a_);
    }

private:
    /// Adds the peers' sums, which are there, to late rows: they have in y, whichever block stored
    /// it, what this device holds of them.
    __device__ void complete_late_rows() {
        for (auto m = static_cast<std::int32_t>(threadIdx.x); m < a_.partials.count;
             m += block_threads) {
            const std::int32_t row = a_.partials.rows[m];
            const T y = __ldcg(a_.y + row) + a_.alpha * a_.partials.sum(m);
            a_.y[row] = y;
            count(row, y);
        }
    }

    /// Whether a row enters the dot products with what it has now.
    [[nodiscard]] __device__ bool counts_now(std::int64_t row) const {
        return !Shared || !a_.partials.is_late(row);
    }

    /// Sends y[row] to the peers if it is `sent`, and adds it to the dot products if it is
    /// `counted`.
    __device__ void pass_on(std::int64_t row, T y, bool sent, bool counted) {
        if (sent && a_.put.channel.receivers != 0) send(row, y);
        if (counted && counts_now(row)) count(row, y);
    }

    __device__ void count(std::int64_t row, T y) {
#pragma unroll
        for (int d = 0; d < Dots; ++d) {
            const T other = a_.dot_with[d] != nullptr ? a_.dot_with[d][row] : y;
            dots_[d] += static_cast<double>(y) * static_cast<double>(other);
        }
    }

    __device__ void send(std::int64_t row, T y) {
        for_receivers([&](T* copy) { copy[row] = y; });
    }
    template <class Store>
    __device__ void for_receivers(Store store) {
        for (int k = 0; k < a_.put.channel.receivers; ++k) store(a_.put.copies[k]);
    }

    /// Stores the block's dot products as those of block `block`, or adds them to these.
    __device__ void store_dots(unsigned block, bool add) {
        __shared__ double warp_sums[block_warps];
        for (int d = 0; d < Dots; ++d) {
            const double sum = block_sum(dots_[d], warp_sums);
            double* const place =
                a_.reduce.partials + static_cast<std::int64_t>(d) * context_.partial_stride + block;
            if (threadIdx.x == 0) *place = add ? *place + sum : sum;
            dots_[d] = 0;
        }
    }

    const compact_context& context_;
    const spmv_operands<T>& a_;
    bool ghosts_there_;
    bool receivers_ready_ = false;
    double dots_[Dots == 0 ? 1 : Dots] = {};
};

} // namespace krylith::cuda
