#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/device/loops/run_items.cuh>
#include <krylith/precond/scaling/diagonal_tasks.hpp>
#include <krylith/precond/scaling/unit_diagonal.hpp>

namespace krylith::cuda {

namespace {

constexpr int lanes = 8;          ///< of a row
constexpr int scaled_at_once = 4; ///< entries of a lane that are loaded at once

/// The rows of a grid: each group of `lanes` lanes takes one row after the other.
struct row_walk {
    std::int64_t row = (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / lanes;
    int lane = static_cast<int>(threadIdx.x) % lanes;
    std::int64_t step = std::int64_t{gridDim.x} * (block_threads / lanes);

    __device__ row_walk() {}
};

/// Reports the largest number of the warp's lanes, which are not negative.
__device__ void report_largest(double value, std::uint64_t* to) {
    value = warp_reduce(value, [](double own, double other) { return max(own, other); });
    if (lane_number() == 0 && value > 0)
        atomicMax(reinterpret_cast<atomic_word*>(to),
                  static_cast<atomic_word>(__double_as_longlong(value)));
}

/// A warp takes 32 rows: each group of `lanes` lanes adds up one after the other, and then each
/// lane has a row, so that none waits for the roots and quotients of others.
template <class T>
__global__ void __launch_bounds__(block_threads)
    root_kernel(device_csr_view<T> a, std::int64_t first_owned, double* s,
                detail::scaling_report* report) {
    constexpr int groups = 32 / lanes;
    const int lane = lane_number() % lanes;
    const int group = lane_number() / lanes;
    double largest = 0;
    double inverse = 0;
    double bound = 0;
    bool positive = false;
    const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x / 32 * 32;
         first < a.rows; first += step) {
        const std::int64_t row = first + lane * groups + group; // the lane's own
        const std::int64_t own_begin = row < a.rows ? a.offsets[row] : 0;
        const std::int64_t own_end = row < a.rows ? a.offsets[row + 1] : 0;
        double diagonal = 0;
        double sum = 0;
#pragma unroll
        for (int i = 0; i < lanes; ++i) {
            const std::int64_t begin = __shfl_sync(all_lanes, own_begin, i, lanes);
            const std::int64_t end = __shfl_sync(all_lanes, own_end, i, lanes);
            const std::int64_t number = first_owned + first + i * groups + group;
            double part = 0;
            double magnitudes = 0;
#pragma unroll scaled_at_once
            for (std::int64_t k = begin + lane; k < end; k += lanes) {
                const auto value = static_cast<double>(a.values[k]);
                const bool is_diagonal = a.indices[k] == number;
                magnitudes += fabs(value);
                part += is_diagonal ? value : 0.0;
                positive = positive || (!is_diagonal && value > 0);
            }
            part = warp_sum<lanes>(part);
            magnitudes = warp_sum<lanes>(magnitudes);
            if (lane != i) continue;
            diagonal = part;
            sum = magnitudes;
        }
        if (row >= a.rows) continue;
        const double root = ::sqrt(diagonal);
        const double own = 1 / root;
        s[row] = own;
        if (!(diagonal > 0) || !isfinite(root) || !isfinite(own) || !isfinite(sum)) {
            atomicMax(reinterpret_cast<atomic_word*>(&report->bad), ~static_cast<atomic_word>(row));
        } else {
            largest = max(largest, own);
            inverse = max(inverse, root);
            bound = max(bound, sum / diagonal);
        }
    }
    report_largest(largest, &report->largest);
    report_largest(inverse, &report->inverse);
    report_largest(bound, &report->bound);
    if (__any_sync(all_lanes, positive) && lane_number() == 0) report->any_positive = 1;
}

template <bool Mirrored, class T, class W>
__global__ void __launch_bounds__(block_threads)
    entry_kernel(device_csr_view<T> a, const double* s, std::int64_t first_owned, double factor,
                 W* to, const __grid_constant__ detail::mirror_sum mirrored) {
    atomic_word all = 0;
    row_walk at;
    for (; at.row < a.rows; at.row += at.step) {
        const double own = factor * s[first_owned + at.row];
        detail::probe_pair probe{};
        if constexpr (Mirrored)
            probe = detail::probe_of(
                mirrored.columns.global(static_cast<std::int32_t>(first_owned + at.row)));
        const std::int64_t end = a.offsets[at.row + 1];
        for (std::int64_t k = a.offsets[at.row] + at.lane; k < end; k += scaled_at_once * lanes) {
            std::int32_t column[scaled_at_once];
            T value[scaled_at_once];
            double other[scaled_at_once];
#pragma unroll
            for (int i = 0; i < scaled_at_once; ++i) {
                const std::int64_t there = k + i * lanes < end ? k + i * lanes : k;
                column[i] = a.indices[there];
                value[i] = a.values[there];
            }
#pragma unroll
            for (int i = 0; i < scaled_at_once; ++i) other[i] = s[column[i]];
#pragma unroll
            for (int i = 0; i < scaled_at_once; ++i) {
                if (k + i * lanes >= end) break;
                const W scaled = static_cast<W>(static_cast<double>(value[i]) * own * other[i]);
                to[k + i * lanes] = scaled;
                if constexpr (Mirrored)
                    all += static_cast<atomic_word>(detail::mirror_term(
                        probe, detail::probe_of(mirrored.columns.global(column[i])),
                        mirrored.factor * static_cast<double>(scaled)));
            }
        }
    }
    if constexpr (Mirrored) {
        all = warp_sum(all);
        if (lane_number() == 0 && all != 0)
            atomicAdd(reinterpret_cast<atomic_word*>(mirrored.sum), all);
    }
}

/// The rows with so many entries on average that short_entry_kernel is for.
constexpr std::int64_t short_rows = 12;

/// The same where rows are short: a warp takes the entries of 32 rows one after the other, as they
/// lie in memory, and looks for their rows among the 32.
template <bool Mirrored, class T, class W>
__global__ void __launch_bounds__(block_threads)
    short_entry_kernel(device_csr_view<T> a, const double* s, std::int64_t first_owned,
                       double factor, W* to, const __grid_constant__ detail::mirror_sum mirrored) {
    const int lane = lane_number();
    const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
    atomic_word all = 0;
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x / 32 * 32;
         first < a.rows; first += step) {
        const std::int64_t row = min(first + lane, a.rows - 1);
        const std::int64_t begin = a.offsets[min(first + lane, a.rows)];
        const std::int64_t end = a.offsets[min(first + 32, a.rows)];
        const double own_scale = factor * s[first_owned + row];
        detail::probe_pair own_probe{};
        if constexpr (Mirrored)
            own_probe = detail::probe_of(
                mirrored.columns.global(static_cast<std::int32_t>(first_owned + row)));
        for (std::int64_t k = __shfl_sync(all_lanes, begin, 0); k < end; k += scaled_at_once * 32) {
            std::int32_t column[scaled_at_once];
            T value[scaled_at_once];
            double other[scaled_at_once];
#pragma unroll
            for (int i = 0; i < scaled_at_once; ++i) {
                const std::int64_t there = min(k + i * 32 + lane, end - 1);
                column[i] = a.indices[there];
                value[i] = a.values[there];
            }
#pragma unroll
            for (int i = 0; i < scaled_at_once; ++i) other[i] = s[column[i]];
#pragma unroll
            for (int i = 0; i < scaled_at_once; ++i) {
                const std::int64_t entry = k + i * 32 + lane;
                int of_row = 0; // the last one that begins at the entry or before
#pragma unroll
                for (int half = 16; half > 0; half /= 2)
                    if (__shfl_sync(all_lanes, begin, of_row + half) <= entry) of_row += half;
                const double own = __shfl_sync(all_lanes, own_scale, of_row);
                detail::probe_pair probe{};
                if constexpr (Mirrored) {
                    probe.u = __shfl_sync(all_lanes, own_probe.u, of_row);
                    probe.v = __shfl_sync(all_lanes, own_probe.v, of_row);
                }
                if (entry >= end) continue;
                const W scaled = static_cast<W>(static_cast<double>(value[i]) * own * other[i]);
                to[entry] = scaled;
                if constexpr (Mirrored)
                    all += static_cast<atomic_word>(detail::mirror_term(
                        probe, detail::probe_of(mirrored.columns.global(column[i])),
                        mirrored.factor * static_cast<double>(scaled)));
            }
        }
    }
    if constexpr (Mirrored) {
        all = warp_sum(all);
        if (lane == 0 && all != 0) atomicAdd(reinterpret_cast<atomic_word*>(mirrored.sum), all);
    }
}

template <class W>
__global__ void __launch_bounds__(block_threads)
    row_scale_kernel(device_csr_view<W> a, const double* s, double factor, W* values) {
    row_walk at;
    for (; at.row < a.rows; at.row += at.step)
        for (std::int64_t k = a.offsets[at.row] + at.lane; k < a.offsets[at.row + 1]; k += lanes)
            values[k] = static_cast<W>(static_cast<double>(a.values[k]) * (factor * s[at.row]));
}

/// As root_kernel, a warp takes 32 rows.
template <class W>
__global__ void __launch_bounds__(block_threads)
    defect_kernel(device_csr_view<W> b, const W* v, std::uint64_t* sum) {
    constexpr int groups = 32 / lanes;
    const int lane = lane_number() % lanes;
    const int group = lane_number() / lanes;
    const std::int64_t step = std::int64_t{gridDim.x} * block_threads;
    atomic_word all = 0;
    for (std::int64_t first = std::int64_t{blockIdx.x} * block_threads + threadIdx.x / 32 * 32;
         first < b.rows; first += step) {
        const std::int64_t row = first + lane * groups + group; // the lane's own
        const std::int64_t own_begin = row < b.rows ? b.offsets[row] : 0;
        const std::int64_t own_end = row < b.rows ? b.offsets[row + 1] : 0;
        double signed_sum = 0;
        double size = 0;
#pragma unroll
        for (int i = 0; i < lanes; ++i) {
            const std::int64_t begin = __shfl_sync(all_lanes, own_begin, i, lanes);
            const std::int64_t end = __shfl_sync(all_lanes, own_end, i, lanes);
            double part = 0;
            double magnitudes = 0;
#pragma unroll scaled_at_once
            for (std::int64_t k = begin + lane; k < end; k += lanes) {
                const double term =
                    static_cast<double>(b.values[k]) * static_cast<double>(v[b.indices[k]]);
                part += term;
                magnitudes += fabs(term);
            }
            part = warp_sum<lanes>(part);
            magnitudes = warp_sum<lanes>(magnitudes);
            if (lane != i) continue;
            signed_sum = part;
            size = magnitudes;
        }
        if (row < b.rows) all += detail::quantised_defect(signed_sum, size);
    }
    all = warp_sum(all);
    if (lane_number() == 0 && all != 0) atomicAdd(reinterpret_cast<atomic_word*>(sum), all);
}

std::int64_t blocks_of_rows(std::int64_t rows) {
    constexpr std::int64_t rows_of_block = block_threads / lanes;
    return (rows + rows_of_block - 1) / rows_of_block;
}

} // namespace

template <class T>
void inverse_roots(device& on, const device_csr_view<T>& a, std::int64_t first_owned, double* s,
                   detail::scaling_report* report) {
    launch_over(on, a.rows, root_kernel<T>, a, first_owned, s, report);
}

template <class T, class W>
void scale_entries(device& on, const device_csr_view<T>& a, const double* s,
                   std::int64_t first_owned, double factor, W* to,
                   const detail::mirror_sum& mirrored) {
    const bool mirrors = mirrored.sum != nullptr;
    if (a.nonzeros <= short_rows * a.rows)
        return launch_over(
            on, a.rows, mirrors ? short_entry_kernel<true, T, W> : short_entry_kernel<false, T, W>,
            a, s, first_owned, factor, to, mirrored);
    launch_blocks(on, blocks_of_rows(a.rows),
                  mirrors ? entry_kernel<true, T, W> : entry_kernel<false, T, W>, a, s, first_owned,
                  factor, to, mirrored);
}

template <class W>
void scale_rows(device& on, const device_csr_view<W>& a, const double* s, double factor,
                W* values) {
    launch_blocks(on, blocks_of_rows(a.rows), row_scale_kernel<W>, a, s, factor, values);
}

template <class W>
void null_defect(device& on, const device_csr_view<W>& b, const W* v, std::uint64_t* sum) {
    launch_over(on, b.rows, defect_kernel<W>, b, v, sum);
}

#define KRYLITH_INSTANTIATE(W)                                                                     \
    template struct instances<inverse_roots<W>, scale_entries<W, W>, scale_rows<W>,                \
                              null_defect<W>>;                                                     \
    template struct item_runs<detail::take_diagonal_task<W>, detail::set_diagonal_task<W, W>>;
#include <krylith/device/language/instantiate.inc>
template struct instances<scale_entries<double, float>>;
template struct item_runs<detail::set_diagonal_task<double, float>>;

} // namespace krylith::cuda
