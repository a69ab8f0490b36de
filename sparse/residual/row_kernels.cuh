// Passes over the rows of a block entry by entry, one thread for each row, or all threads of a
// block for a long one: the diagonal, and the residual in doubled precision. `Rows` has the members
// of csr_rows (block_rows.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/device_matrix/doubled_residual.hpp>
#include <krylith/sparse/residual/block_rows.hpp>

namespace krylith::cuda {

inline constexpr int row_threads = 256;

/// Rows of more entries have a block of threads: one thread takes half a microsecond an entry.
inline constexpr std::int64_t longest_of_thread = 1024;

/// Sums up rows. wanted(row) says whether a row counts, add(row, sum, column, value) takes an entry
/// of it, sum.add(other) joins what threads have, and finish(row, sum) is called by the thread of
/// the row's place. All threads of a block call it.
template <class Sum, class Rows, class Wanted, class Add, class Finish>
__device__ void sum_rows(const Rows& rows, const Wanted& wanted, const Add& add,
                         const Finish& finish) {
    __shared__ alignas(Sum) unsigned char bytes[sizeof(Sum) * row_threads];
    __shared__ bool is_long[row_threads];
    Sum* const parts = reinterpret_cast<Sum*>(bytes); // Sum has a constructor
    const int me = static_cast<int>(threadIdx.x);
    const std::int64_t stride = std::int64_t{gridDim.x} * row_threads;
    const auto visit = [&](std::int64_t place, int lane, int lanes) {
        const std::int64_t row = rows.row(place);
        Sum sum;
        rows.visit(place, lane, lanes,
                   [&](std::int64_t column, auto value) { add(row, sum, column, value); });
        return sum;
    };
    for (std::int64_t first = std::int64_t{blockIdx.x} * row_threads; first < rows.places;
         first += stride) {
        const std::int64_t place = first + me;
        const std::int64_t row = place < rows.places ? rows.row(place) : -1;
        const bool mine = row >= 0 && wanted(row);
        is_long[me] = mine && rows.length(place) > longest_of_thread;
        if (mine && !is_long[me]) finish(row, visit(place, 0, 1));
        if (__syncthreads_or(is_long[me]) == 0) continue;
        for (int of = 0; of < row_threads; ++of) {
            if (!is_long[of]) continue;
            parts[me] = visit(first + of, me, row_threads);
            for (int half = row_threads / 2; half > 0; half /= 2) {
                __syncthreads();
                if (me < half) parts[me].add(parts[me + half]);
            }
            __syncthreads();
            if (me == of) finish(row, parts[0]);
            __syncthreads(); // parts are written again
        }
        __syncthreads(); // and so is is_long
    }
}

/// A diagonal entry, whose duplicates add up.
template <class T>
struct diagonal_sum {
    T value = 0;
    __device__ void add(const diagonal_sum& other) { value += other.value; }
};

/// Computes the diagonal, whose column of row 0 is `first_owned`. Duplicates add up, as they do in
/// A x.
template <class T, class Rows>
__global__ void __launch_bounds__(row_threads)
    diagonal_kernel(const __grid_constant__ Rows rows, const __grid_constant__ row_map map,
                    std::int64_t first_owned, T* d) {
    sum_rows<diagonal_sum<T>>(
        rows, [&](std::int64_t row) { return map.at(row) < map.rows; },
        [&](std::int64_t row, diagonal_sum<T>& sum, std::int64_t column, T value) {
            if (column == first_owned + map.at(row)) sum.value += value;
        },
        [&](std::int64_t row, const diagonal_sum<T>& sum) { d[map.at(row)] = sum.value; });
}

template <class T, class Rows>
void compute_diagonal(device& device, const Rows& rows, const row_map& map,
                      std::int64_t first_owned, T* d) {
    const launch_scope launch(device);
    const auto kernel = diagonal_kernel<T, Rows>;
    kernel<<<launch.blocks(kernel, row_threads, (rows.places + row_threads - 1) / row_threads),
             row_threads, 0, launch.stream()>>>(rows, map, first_owned, d);
    launch.check_launch();
}

/// Computes the residual; blockIdx.y is the column. The blocks' sums are those of parts.
template <class T, class Rows>
__global__ void __launch_bounds__(row_threads)
    residual_kernel(const __grid_constant__ Rows rows,
                    const __grid_constant__ residual_operands<T> a, residual_sums* sums) {
    __shared__ residual_sums shared[row_threads];
    const int me = static_cast<int>(threadIdx.x);
    const int column = static_cast<int>(blockIdx.y);
    residual_sums mine{};
    sum_rows<krylith::row_terms>(
        rows, [&](std::int64_t row) { return a.map.at(row) < a.map.rows; },
        [&](std::int64_t, krylith::row_terms& terms, std::int64_t j, T value) {
            if (j >= 0) terms.add(value, a.x[j * a.columns + column]);
        },
        [&](std::int64_t row, const krylith::row_terms& terms) {
            a.finish(row, column, terms, mine);
        });
    shared[me] = mine;
    for (int half = row_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half) shared[me].join(shared[me + half]);
    }
    if (me == 0) sums[std::int64_t{blockIdx.x} * a.columns + column] = shared[0];
}

/// Enqueues the residual. Returns where the sums of its parts will be.
template <class T, class Rows>
[[nodiscard]] buffer<residual_sums> compute_residual(const std::shared_ptr<device>& device,
                                                     const Rows& rows,
                                                     const residual_operands<T>& a) {
    const launch_scope launch(*device);
    const auto kernel = residual_kernel<T, Rows>;
    const unsigned blocks =
        launch.blocks(kernel, row_threads, (rows.places + row_threads - 1) / row_threads);
    buffer<residual_sums> sums(device, std::size_t{blocks} * static_cast<std::size_t>(a.columns),
                               "residual");
    kernel<<<dim3(blocks, static_cast<unsigned>(a.columns)), row_threads, 0, launch.stream()>>>(
        rows, a, sums.data());
    launch.check_launch();
    return sums;
}

} // namespace krylith::cuda
