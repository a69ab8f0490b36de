// Rows of P on CUDA devices: a thread a row where it has few columns, else a warp.
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/prolongation_rows.hpp>
#include <krylith/precond/coarsening/shared_numbers.hpp>

namespace krylith::aggregation::cuda {

namespace {

using krylith::cuda::all_lanes;
using krylith::cuda::lane_number;
using krylith::cuda::launch_scope;

constexpr int threads = 256;
constexpr int most_few = 8; ///< columns of a row that one thread keeps in registers
constexpr std::int32_t many = -1;

__device__ float added(float a, float b) {
    return __fadd_rn(a, b);
}
__device__ double added(double a, double b) {
    return __dadd_rn(a, b);
}

/// The column of an entry, and the term of its sum where `Values`.
template <bool Values, class T>
struct entry_term {
    std::int32_t column = no_aggregate;
    T term = T(0);

    __device__ entry_term(const prolongation_rows<T>& p, std::int64_t row, std::int64_t k) {
        const std::int32_t j = p.a.indices[k];
        const bool diagonal = j == p.a.own(row);
        if (!diagonal && (!p.smooth || p.a.couplings[k] == 0)) return;
        column = p.aggregate[j];
        if (Values && p.smooth && column >= 0)
            term = (diagonal ? p.filtered[row] : p.values[k]) * p.tentative[j];
    }
};

/// Few columns, in the order in which they came, with their sums.
template <class T>
struct few_columns {
    std::int32_t column[most_few];
    T sum[most_few];
    int count = 0;

    __device__ few_columns() {
#pragma unroll
        for (int i = 0; i < most_few; ++i) {
            column[i] = 0x7fffffff;
            sum[i] = T(0);
        }
    }
    __device__ void add(std::int32_t to, T term) {
        bool there = false;
#pragma unroll
        for (int i = 0; i < most_few; ++i)
            if (column[i] == to) {
                sum[i] = added(sum[i], term);
                there = true;
            }
        if (there) return;
#pragma unroll
        for (int i = 0; i < most_few; ++i)
            if (i == count) {
                column[i] = to;
                sum[i] = term;
            }
        ++count;
    }
    [[nodiscard]] __device__ int place_of(std::int32_t of) const {
        int place = 0;
#pragma unroll
        for (int i = 0; i < most_few; ++i) place += column[i] < of ? 1 : 0;
        return place;
    }
};

template <class T>
__device__ T value_of(const prolongation_rows<T>& p, std::int32_t own, std::int32_t column,
                      T factor, T sum) {
    return minus_product(column == p.aggregate[own] ? p.tentative[own] : T(0), factor, sum);
}

template <class T>
__device__ T factor_of(const prolongation_rows<T>& p, std::int64_t row) {
    return p.smooth ? p.omega / p.filtered[row] : T(0);
}

template <class T>
__global__ void __launch_bounds__(threads)
    count_short(const __grid_constant__ prolongation_rows<T> p, std::int32_t* counts) {
    const std::int64_t stride = std::int64_t{gridDim.x} * threads;
    for (std::int64_t row = std::int64_t{blockIdx.x} * threads + threadIdx.x; row < p.a.rows;
         row += stride) {
        few_columns<T> found;
        if (p.aggregate[p.a.own(row)] >= 0) {
            const std::int64_t end = p.a.offsets[row + 1];
            for (std::int64_t k = p.a.offsets[row]; k < end && found.count <= most_few; ++k) {
                const entry_term<false, T> entry(p, row, k);
                if (entry.column >= 0) found.add(entry.column, T(0));
            }
        }
        counts[row] = found.count <= most_few ? found.count : many;
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    fill_short(const __grid_constant__ prolongation_rows<T> p, const std::int64_t* offsets,
               std::int32_t* columns, T* values) {
    const std::int64_t stride = std::int64_t{gridDim.x} * threads;
    for (std::int64_t row = std::int64_t{blockIdx.x} * threads + threadIdx.x; row < p.a.rows;
         row += stride) {
        const std::int64_t to = offsets[row];
        const std::int64_t count = offsets[row + 1] - to;
        if (count == 0 || count > most_few) continue;
        few_columns<T> found;
        const std::int64_t end = p.a.offsets[row + 1];
        for (std::int64_t k = p.a.offsets[row]; k < end; ++k) {
            const entry_term<true, T> entry(p, row, k);
            if (entry.column >= 0) found.add(entry.column, entry.term);
        }
        const std::int32_t own = p.a.own(row);
        const T factor = factor_of(p, row);
#pragma unroll
        for (int i = 0; i < most_few; ++i) {
            if (i >= found.count) continue;
            const int place = found.place_of(found.column[i]);
            if (columns != nullptr) columns[to + place] = found.column[i];
            values[to + place] = value_of(p, own, found.column[i], factor, found.sum[i]);
        }
    }
}

/// One row on a warp: the next larger column again and again, and its terms in their order. Calls
/// body(column, sum) for each; returns how many there are.
template <bool Values, class T, class Body>
__device__ int each_column(const prolongation_rows<T>& p, std::int64_t row, const Body& body) {
    constexpr std::int32_t none = 0x7fffffff;
    const std::int64_t begin = p.a.offsets[row];
    const std::int64_t end = p.a.offsets[row + 1];
    int count = 0;
    for (std::int32_t last = -1;;) {
        std::int32_t next = none;
        for (std::int64_t k = begin + lane_number(); k < end; k += 32) {
            const entry_term<false, T> entry(p, row, k);
            if (entry.column > last && entry.column < next) next = entry.column;
        }
        next = __reduce_min_sync(all_lanes, next);
        if (next == none) return count;
        T sum = T(0);
        if constexpr (Values)
            for (std::int64_t first = begin; first < end; first += 32) {
                const std::int64_t k = first + lane_number();
                std::int32_t column = none;
                T term = T(0);
                if (k < end) {
                    const entry_term<true, T> entry(p, row, k);
                    column = entry.column;
                    term = entry.term;
                }
                for (unsigned rest = __ballot_sync(all_lanes, column == next); rest != 0;
                     rest &= rest - 1)
                    sum =
                        added(sum, __shfl_sync(all_lanes, term, __ffs(static_cast<int>(rest)) - 1));
            }
        body(count, next, sum);
        ++count;
        last = next;
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    count_long(const __grid_constant__ prolongation_rows<T> p, std::int32_t* counts) {
    const std::int64_t stride = std::int64_t{gridDim.x} * threads;
    for (std::int64_t first = std::int64_t{blockIdx.x} * threads + threadIdx.x - lane_number();
         first < p.a.rows; first += stride) {
        const std::int64_t row = first + lane_number();
        const bool is_long = row < p.a.rows && counts[row] == many;
        for (unsigned rest = __ballot_sync(all_lanes, is_long); rest != 0; rest &= rest - 1) {
            const std::int64_t of = first + __ffs(static_cast<int>(rest)) - 1;
            const int count = each_column<false>(p, of, [](int, std::int32_t, T) {});
            if (lane_number() == 0) counts[of] = count;
        }
    }
}

template <class T>
__global__ void __launch_bounds__(threads)
    fill_long(const __grid_constant__ prolongation_rows<T> p, const std::int64_t* offsets,
              std::int32_t* columns, T* values) {
    const std::int64_t stride = std::int64_t{gridDim.x} * threads;
    for (std::int64_t first = std::int64_t{blockIdx.x} * threads + threadIdx.x - lane_number();
         first < p.a.rows; first += stride) {
        const std::int64_t row = first + lane_number();
        const bool is_long = row < p.a.rows && offsets[row + 1] - offsets[row] > most_few;
        for (unsigned rest = __ballot_sync(all_lanes, is_long); rest != 0; rest &= rest - 1) {
            const std::int64_t of = first + __ffs(static_cast<int>(rest)) - 1;
            const std::int64_t to = offsets[of];
            const std::int32_t own = p.a.own(of);
            const T factor = factor_of(p, of);
            each_column<true>(p, of, [&](int place, std::int32_t column, T sum) {
                if (lane_number() != 0) return;
                if (columns != nullptr) columns[to + place] = column;
                values[to + place] = value_of(p, own, column, factor, sum);
            });
        }
    }
}

template <class Kernel, class... Arguments>
void launch_rows(device& device, Kernel kernel, std::int64_t rows, const Arguments&... arguments) {
    if (rows == 0) return;
    const launch_scope launch(device);
    kernel<<<launch.blocks(kernel, threads, (rows + threads - 1) / threads), threads, 0,
             launch.stream()>>>(arguments...);
    launch.check_launch();
}

} // namespace

template <class T>
void count_prolongation(device& device, const prolongation_rows<T>& p, std::int32_t* counts) {
    launch_rows(device, count_short<T>, p.a.rows, p, counts);
    launch_rows(device, count_long<T>, p.a.rows, p, counts);
}

template <class T>
void fill_prolongation(device& device, const prolongation_rows<T>& p, const std::int64_t* offsets,
                       std::int32_t* columns, T* values) {
    launch_rows(device, fill_short<T>, p.a.rows, p, offsets, columns, values);
    launch_rows(device, fill_long<T>, p.a.rows, p, offsets, columns, values);
}

template void count_prolongation(device&, const prolongation_rows<double>&, std::int32_t*);
template void count_prolongation(device&, const prolongation_rows<float>&, std::int32_t*);
template void fill_prolongation(device&, const prolongation_rows<double>&, const std::int64_t*,
                                std::int32_t*, double*);
template void fill_prolongation(device&, const prolongation_rows<float>&, const std::int64_t*,
                                std::int32_t*, float*);

} // namespace krylith::aggregation::cuda
