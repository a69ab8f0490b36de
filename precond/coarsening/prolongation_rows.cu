// Rows of P on CUDA devices: a lane a row where it has few columns, else a warp.
#include <krylith/device/cuda/launch_over.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/cuda/warp_rows.cuh>
#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/precond/coarsening/aggregate_keys.hpp>
#include <krylith/precond/coarsening/prolongation_rows.hpp>

namespace krylith::aggregation::cuda {

namespace {

using krylith::cuda::all_lanes;
using krylith::cuda::block_threads;
using krylith::cuda::lane_number;
using krylith::cuda::launch_over;

constexpr int most_few = 8; ///< columns of a row that one thread keeps in registers
constexpr std::int32_t many = -1;
constexpr std::int64_t least_tiled =
    12; ///< entries of a row; lanes read shorter ones by themselves

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
    template <bool Values>
    __device__ void add(std::int32_t to, T term) {
        bool there = false;
#pragma unroll
        for (int i = 0; i < most_few; ++i)
            if (column[i] == to) {
                if constexpr (Values) sum[i] = added(sum[i], term);
                there = true;
            }
        if (there) return;
#pragma unroll
        for (int i = 0; i < most_few; ++i)
            if (i == count) {
                column[i] = to;
                if constexpr (Values) sum[i] = term;
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

/// An entry's aggregate, and its term where `Values`.
template <bool Values, class T>
struct aggregate_term {
    std::int32_t column;
    T term;
};
template <class T>
struct aggregate_term<false, T> {
    std::int32_t column;
    static constexpr T term = T(0);
};

template <bool Values, class T>
using term_rows = krylith::cuda::warp_rows<aggregate_term<Values, T>>;

/// The columns of a warp's 32 rows from `first` on, a row a lane, of which those that are not
/// `wanted` have none. `Tiled`: for rows of many entries. All lanes call it together.
template <bool Values, bool Tiled, class T>
__device__ few_columns<T> columns_of_rows(const prolongation_rows<T>& p, std::int64_t first,
                                          bool wanted, term_rows<Values, T>& tile) {
    constexpr int at_once = krylith::cuda::warp_rows<T>::rows_at_once;
    const std::int64_t row = first + lane_number();
    const std::int64_t begin = wanted ? p.a.offsets[row] : 0;
    const int length = wanted ? static_cast<int>(p.a.offsets[row + 1] - begin) : 0;
    few_columns<T> found;
    if constexpr (!Tiled) {
        for (int k = 0; k < length; ++k) {
            const entry_term<Values, T> one(p, row, begin + k);
            if (one.column >= 0) found.template add<Values>(one.column, one.term);
        }
        return found;
    }
    const T diagonal = Values && wanted && p.smooth ? p.filtered[row] : T(0);
    const auto load = [&](const std::int64_t(&at)[at_once], const int(&rows)[at_once],
                          aggregate_term<Values, T>(&to)[at_once]) {
        std::int32_t column[at_once];
        std::uint8_t coupling[at_once];
        [[maybe_unused]] T value[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const std::int64_t k = at[i] < 0 ? 0 : at[i];
            column[i] = p.a.indices[k];
            coupling[i] = p.smooth ? p.a.couplings[k] : std::uint8_t{0};
            if constexpr (Values) value[i] = p.values[k];
        }
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const bool own = column[i] == p.a.own(first + rows[i]);
            const std::int32_t g = p.aggregate[column[i]];
            to[i].column = at[i] >= 0 && (own || coupling[i] != 0) ? g : no_aggregate;
            if constexpr (Values) {
                const T filtered = __shfl_sync(all_lanes, diagonal, rows[i]);
                to[i].term = (own ? filtered : value[i]) * p.tentative[column[i]];
            }
        }
    };
    krylith::cuda::take_rows(tile, begin, length, load, [&](const aggregate_term<Values, T>& one) {
        if (one.column >= 0) found.template add<Values>(one.column, one.term);
    });
    return found;
}

template <bool Tiled, class T>
__global__ void __launch_bounds__(block_threads)
    count_short(const __grid_constant__ prolongation_rows<T> p, std::int32_t* counts) {
    __shared__ term_rows<false, T> tiles[block_threads / 32];
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t row = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         row - lane_number() < p.a.rows; row += stride) {
        const bool wanted = row < p.a.rows && p.aggregate[p.a.own(row)] >= 0;
        const auto found =
            columns_of_rows<false, Tiled>(p, row - lane_number(), wanted, tiles[threadIdx.x / 32]);
        if (row < p.a.rows) counts[row] = found.count <= most_few ? found.count : many;
    }
}

template <bool Tiled, class T>
__global__ void __launch_bounds__(block_threads)
    fill_short(const __grid_constant__ prolongation_rows<T> p, const std::int64_t* offsets,
               std::int32_t* columns, T* values) {
    __shared__ term_rows<true, T> tiles[block_threads / 32];
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t row = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         row - lane_number() < p.a.rows; row += stride) {
        const std::int64_t to = row < p.a.rows ? offsets[row] : 0;
        const std::int64_t count = row < p.a.rows ? offsets[row + 1] - to : 0;
        const bool wanted = count != 0 && count <= most_few;
        const auto found =
            columns_of_rows<true, Tiled>(p, row - lane_number(), wanted, tiles[threadIdx.x / 32]);
        if (!wanted) continue;
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
__global__ void __launch_bounds__(block_threads)
    count_long(const __grid_constant__ prolongation_rows<T> p, std::int32_t* counts) {
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t first =
             std::int64_t{blockIdx.x} * block_threads + threadIdx.x - lane_number();
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
__global__ void __launch_bounds__(block_threads)
    fill_long(const __grid_constant__ prolongation_rows<T> p, const std::int64_t* offsets,
              std::int32_t* columns, T* values) {
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t first =
             std::int64_t{blockIdx.x} * block_threads + threadIdx.x - lane_number();
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

} // namespace

template <class T>
void count_prolongation(device& device, const prolongation_rows<T>& p, std::int32_t* counts) {
    if (p.mean_entries > least_tiled)
        launch_over(device, p.a.rows, count_short<true, T>, p, counts);
    else
        launch_over(device, p.a.rows, count_short<false, T>, p, counts);
    launch_over(device, p.a.rows, count_long<T>, p, counts);
}

template <class T>
void fill_prolongation(device& device, const prolongation_rows<T>& p, const std::int64_t* offsets,
                       std::int32_t* columns, T* values) {
    if (p.mean_entries > least_tiled)
        launch_over(device, p.a.rows, fill_short<true, T>, p, offsets, columns, values);
    else
        launch_over(device, p.a.rows, fill_short<false, T>, p, offsets, columns, values);
    launch_over(device, p.a.rows, fill_long<T>, p, offsets, columns, values);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void count_prolongation(device&, const prolongation_rows<T>&, std::int32_t*);         \
    template void fill_prolongation(device&, const prolongation_rows<T>&, const std::int64_t*,     \
                                    std::int32_t*, T*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda
