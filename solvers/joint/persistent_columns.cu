// The kernel of persistent_columns: CG of all columns from launch to the last column's stop.
//
// Blocks have consecutive rows, so that most of what a product gathers is in the block's own L1
// cache: a fence before each product drops what others may have changed, and the block reads its
// own pairs and those of neighbouring rows once a phase. For a 7-point stencil of 32^3 rows and 8
// columns a multiprocessor has 249 rows; it writes 32 KB of pairs an iteration and reads about 100
// KB of them and 22 KB of the matrix from L2, which is about 3 us at the rate of L2 (reckoned).

#include <algorithm>

#include <krylith/device/cuda/cooperative_launch.cuh>
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/solvers/joint/cg_columns.hpp>
#include <krylith/solvers/joint/persistent_columns.hpp>
#include <krylith/sparse/csr/column_entries.cuh>
#include <krylith/vector/execution/kernel_context_cuda.cuh>

namespace krylith::cuda {

namespace {

constexpr int column_threads = 512;
constexpr int column_warps = column_threads / 32;
constexpr int most_items = 4; ///< of a thread: registers hold no more
/// Up to so many items, registers hold x too.
constexpr int items_with_x = 2;
/// Stamped values of one sum that each lane reads.
constexpr int column_values_a_lane = most_column_blocks / 32;

/// The shared memory of a block besides the kernel context.
struct column_state {
    double warp_sums[column_warps][2 * max_columns];
    double sums[2 * max_columns];
    double numbers[column_places{max_columns}.own(cg_columns<false>::numbers)];
    int failed;
};

/// Adds up Sets values a column over all threads of all blocks, into s.sums: value set * k + j is
/// that of column j of k. With Publish, what the blocks stored before is visible afterwards. A
/// block waits for all others. Returns false after a time-out.
template <int Sets, bool Publish>
__device__ bool reduce_columns(const all_reduce_slots& all_reduce, stamped_value* slots,
                               const row_lanes& lanes, column_state& s, std::uint64_t epoch,
                               const double (&values)[Sets * column_width]) {
    static_assert(Sets * max_columns <= 32, "one warp stores all sums of a block");
    const int columns = lanes.columns();
    const int count = Sets * columns;
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const auto slot = [&](int v, int block) {
        return slots +
               (static_cast<std::int64_t>(epoch & 1) * 2 * columns + v) * most_column_blocks +
               block;
    };
    store_column_sums<Sets>(lanes, values, s.warp_sums[warp]);
    __syncthreads();
    if (warp == 0) {
        if constexpr (Publish) fence_acq_rel();
        if (lane < count) {
            double sum = 0;
#pragma unroll
            for (int w = 0; w < column_warps; ++w) sum += s.warp_sums[w][lane];
            store_stamped(slot(lane, static_cast<int>(blockIdx.x)), {sum, epoch});
        }
    }
    const int blocks = static_cast<int>(gridDim.x);
    // The last warp first, because warp 0 has just been busy.
    for (int v = column_warps - 1 - warp; v < count; v += column_warps) {
        const stamped_value* const from = slot(v, lane);
        stamped_value got[column_values_a_lane] = {};
        const auto arrived = [&] {
            bool all = true;
#pragma unroll
            for (int u = 0; u < column_values_a_lane; ++u)
                if (lane + u * 32 < blocks) got[u] = load_stamped(from + u * 32);
#pragma unroll
            for (int u = 0; u < column_values_a_lane; ++u)
                all = all && (lane + u * 32 >= blocks || got[u].epoch == epoch);
            return all;
        };
        const bool ok = __all_sync(all_lanes, wait_until(all_reduce, 0, arrived)) != 0;
        double sum = 0;
#pragma unroll
        for (int u = 0; u < column_values_a_lane; ++u) sum += got[u].value;
        sum = warp_sum(sum);
        if (lane == 0) {
            s.sums[v] = sum;
            if (!ok) s.failed = 1;
        }
        if constexpr (Publish) fence_acq_rel();
    }
    __syncthreads();
    return s.failed == 0;
}

/// The items of the pairs of a row: as many of z as it has lanes, then those of p.
[[nodiscard]] __device__ inline std::int64_t pair_item(const row_lanes& lanes, std::int64_t row) {
    return 2 * lanes.first_item(row) + lanes.lane();
}

/// Returns a row of A times the direction z + beta p, in a thread's columns.
template <class T>
[[nodiscard]] __device__ inline column_entries<T>
multiply_pairs(const persistent_column_operands<T>& a, const row_lanes& lanes, std::int64_t row,
               const T (&beta)[column_width]) {
    column_entries<T> sum{};
    const std::int64_t end = a.matrix.begin(row + 1);
#pragma unroll 4
    for (std::int64_t at = a.matrix.begin(row); at < end; ++at) {
        const T value = a.matrix.values[at];
        const std::int64_t item = pair_item(lanes, a.matrix.columns[at]);
        const auto z = load_entries(a.pairs, item);
        const auto p = load_entries(a.pairs, item + lanes.count());
#pragma unroll
        for (int c = 0; c < column_width; ++c) sum.at[c] += value * fma(beta[c], p.at[c], z.at[c]);
    }
    return sum;
}

template <class T, int K, bool Preconditioned, int Items>
__global__ void __launch_bounds__(column_threads, 1)
    persistent_columns_kernel(const __grid_constant__ compact_context parameter,
                              const __grid_constant__ persistent_column_operands<T> a) {
    using cg = cg_columns<false>;
    constexpr int sets = Preconditioned ? 2 : 1; // without M r'z is r'r
    constexpr int width = column_width;
    constexpr bool keeps_x = Items <= items_with_x;
    constexpr int columns = K;
    constexpr column_places at{K};
    const row_lanes lanes(K); // constant shifts: a step takes few microseconds
    __shared__ context_state state;
    __shared__ column_state s;
    const compact_context& context = state.context; // complete after the prologue
    if (!kernel_prologue(parameter, state)) return;
    const auto me = static_cast<int>(threadIdx.x);
    for (int i = me; i < at.own(cg::numbers); i += column_threads) s.numbers[i] = context.array[i];
    if (me == 0) s.failed = 0;

    // Rows are divided evenly; a thread's items are column_threads apart, in the same columns.
    const std::int64_t first = a.rows * blockIdx.x / gridDim.x * lanes.count();
    const std::int64_t end = a.rows * (blockIdx.x + 1) / gridDim.x * lanes.count();
    const auto item = [&](int j) { return first + j * column_threads + me; };
    column_entries<T> x[keeps_x ? Items : 1] = {};
    column_entries<T> r[Items] = {};
    column_entries<T> p[Items] = {};
    column_entries<T> q[Items] = {};
    // The first direction is p, whatever the residual: z = p and p = 0 with beta = 0.
#pragma unroll
    for (int j = 0; j < Items; ++j) {
        const std::int64_t i = item(j);
        if (i >= end) continue;
        if constexpr (keeps_x) x[j] = load_entries<T>(a.vectors[cg::x], i);
        r[j] = load_entries<T>(a.vectors[cg::r], i);
        p[j] = load_entries<T>(a.vectors[cg::p], i);
        const std::int64_t pair = pair_item(lanes, lanes.row_of(i));
        store_entries<T>(a.pairs, pair, p[j]);
        store_entries<T>(a.pairs, pair + lanes.count(), column_entries<T>{});
    }
    const auto inverse = [&](std::int64_t i) {
        return Preconditioned ? a.inverse_diagonal[lanes.row_of(i)] : T(1);
    };
    T factor[width];
    T inverse_factor[width];
    T beta[width] = {};
#pragma unroll
    for (int c = 0; c < width; ++c) {
        const int column = lanes.first_column() + c;
        factor[c] = static_cast<T>(context.array[at.factor() + column]);
        inverse_factor[c] = static_cast<T>(context.array[at.inverse_factor() + column]);
    }
    const auto next_direction = [&](int j, T d) {
#pragma unroll
        for (int c = 0; c < width; ++c) {
            const T z = inverse_factor[c] * d * r[j].at[c];
            p[j].at[c] = beta[c] != T(0) ? fma(beta[c], p[j].at[c], z) : z;
        }
    };
    std::uint64_t epoch = *a.last_epoch + 1;
    const double nothing[width] = {};
    bool going = reduce_columns<1, true>(context.all_reduce, a.slots, lanes, s, epoch, nothing);
    for (std::int64_t iteration = 0; going; ++iteration) {
        double products[width] = {};
#pragma unroll
        for (int j = 0; j < Items; ++j) {
            const std::int64_t i = item(j);
            if (i >= end) continue;
            if (iteration != 0) next_direction(j, inverse(i));
            q[j] = multiply_pairs(a, lanes, lanes.row_of(i), beta);
#pragma unroll
            for (int c = 0; c < width; ++c) {
                q[j].at[c] *= factor[c];
                products[c] += static_cast<double>(p[j].at[c]) * static_cast<double>(q[j].at[c]);
            }
        }
        if (!reduce_columns<1, false>(context.all_reduce, a.slots, lanes, s, ++epoch, products))
            break;
        if (me < columns) s.numbers[at.own(cg::pq) + me] = s.sums[me];
        T alpha[width];
#pragma unroll
        for (int c = 0; c < width; ++c) {
            const int column = lanes.first_column() + c;
            alpha[c] = s.numbers[at.state() + column] == 0.0 && s.sums[column] > 0.0
                           ? static_cast<T>(s.numbers[at.own(cg::rho) + column] / s.sums[column])
                           : T(0);
        }
        double norms[sets * width] = {};
#pragma unroll
        for (int j = 0; j < Items; ++j) {
            const std::int64_t i = item(j);
            if (i >= end) continue;
            column_entries<T> far_x{};
            if constexpr (!keeps_x) far_x = load_entries<T>(a.vectors[cg::x], i);
            column_entries<T>& own_x = keeps_x ? x[keeps_x ? j : 0] : far_x;
            const T d = inverse(i);
            column_entries<T> z;
#pragma unroll
            for (int c = 0; c < width; ++c) {
                if (alpha[c] != T(0)) {
                    own_x.at[c] += alpha[c] * p[j].at[c];
                    r[j].at[c] -= alpha[c] * q[j].at[c];
                }
                z.at[c] = inverse_factor[c] * d * r[j].at[c];
                double own[2] = {};
                cg::add_residual(r[j].at[c], z.at[c], own);
#pragma unroll
                for (int set = 0; set < sets; ++set) norms[set * width + c] += own[set];
            }
            if constexpr (!keeps_x) store_entries<T>(a.vectors[cg::x], i, far_x);
            const std::int64_t pair = pair_item(lanes, lanes.row_of(i));
            store_entries<T>(a.pairs, pair, z);
            store_entries<T>(a.pairs, pair + lanes.count(), p[j]);
        }
        if (!reduce_columns<sets, true>(context.all_reduce, a.slots, lanes, s, ++epoch, norms))
            break;
        // All blocks have the same sums and numbers, and come to the same conclusions.
        if (!Preconditioned && me < columns) s.sums[columns + me] = s.sums[me];
        const bool runs = me < columns && cg::test(s.numbers, s.sums, at, me);
        going = __syncthreads_or(runs ? 1 : 0) != 0 && iteration + 1 < a.iterations;
#pragma unroll
        for (int c = 0; c < width; ++c)
            beta[c] = static_cast<T>(s.numbers[at.own(cg::beta) + lanes.first_column() + c]);
    }
#pragma unroll
    for (int j = 0; j < Items; ++j) {
        const std::int64_t i = item(j);
        if (i >= end) continue;
        next_direction(j, inverse(i));
        if constexpr (keeps_x) store_entries<T>(a.vectors[cg::x], i, x[j]);
        store_entries<T>(a.vectors[cg::r], i, r[j]);
        store_entries<T>(a.vectors[cg::p], i, p[j]);
    }
    if (blockIdx.x != 0) return;
    for (int i = me; i < at.own(cg::numbers); i += column_threads) context.array[i] = s.numbers[i];
    if (me == 0) *a.last_epoch = epoch;
}

unsigned blocks_for(const cuda_device& device, std::int64_t items) {
    return static_cast<unsigned>(
        std::clamp<std::int64_t>((items + column_threads - 1) / column_threads, 1,
                                 std::min(device.multiprocessors(), most_column_blocks)));
}

std::int64_t items_of(std::int64_t rows, int columns) {
    return rows * (columns / column_width);
}

template <class T, int K, bool Preconditioned>
auto kernel_of(std::int64_t items) {
    if (items <= 1) return persistent_columns_kernel<T, K, Preconditioned, 1>;
    if (items <= 2) return persistent_columns_kernel<T, K, Preconditioned, 2>;
    return persistent_columns_kernel<T, K, Preconditioned, most_items>;
}

template <class T, int K, bool Preconditioned>
void launch(device& device, const kernel_context& common, const persistent_column_operands<T>& a) {
    const launch_scope scope(device);
    const unsigned blocks =
        blocks_for(static_cast<cuda_device&>(device), items_of(a.rows, a.columns));
    const std::int64_t rows = (a.rows + blocks - 1) / blocks; // of a block
    const std::int64_t items = (items_of(rows, a.columns) + column_threads - 1) / column_threads;
    launch_together(scope, kernel_of<T, K, Preconditioned>(items), blocks, column_threads, 0,
                    compact(common), a);
}

} // namespace

std::int64_t persistent_column_rows(const device& device, int columns) {
    const auto& d = static_cast<const cuda_device&>(device);
    const std::int64_t blocks = std::min(d.multiprocessors(), most_column_blocks);
    return blocks * (std::int64_t{most_items} * column_threads / items_of(1, columns));
}

template <class T>
void iterate_columns(device& device, const kernel_context& common,
                     const persistent_column_operands<T>& a) {
    with_columns(a.columns, [&](auto k) {
        constexpr int columns = decltype(k)::value;
        if (a.preconditioned)
            launch<T, columns, true>(device, common, a);
        else
            launch<T, columns, false>(device, common, a);
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void iterate_columns(device&, const kernel_context&,                                  \
                                  const persistent_column_operands<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
