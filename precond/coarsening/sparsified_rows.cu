// Rows without their small entries on CUDA devices, and the steps that say which may be dropped. A
// team of lanes takes a row.
#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/cuda/warp.cuh>
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/coarsening/sparsified_rows.hpp>
#include <krylith/precond/coarsening/sparsify_steps.hpp>

namespace krylith::aggregation::cuda {

namespace {

using krylith::cuda::all_lanes;
using krylith::cuda::lane_number;
using krylith::cuda::launch_scope;
using krylith::cuda::warp_sum;

constexpr int row_threads = 256;
constexpr int sparsified_at_once = 4; ///< entries of a lane that are loaded at once

/// The team of a thread, and its rows one after the other. All lanes of a warp take the same
/// number of rows; `there` says whether there is one.
template <int Lanes, class Body>
__device__ inline void for_rows(std::int64_t rows, Body body) {
    const std::int64_t step = std::int64_t{gridDim.x} * (row_threads / Lanes);
    const std::int64_t first_of_warp = lane_number() / Lanes;
    for (std::int64_t row = (std::int64_t{blockIdx.x} * row_threads + threadIdx.x) / Lanes;
         row - first_of_warp < rows; row += step)
        body(row, row < rows);
}

template <int Lanes, class T>
__global__ void __launch_bounds__(row_threads)
    find_kept_kernel(const __grid_constant__ sparsified_rows<T> m, std::int32_t* counts) {
    const int lane = static_cast<int>(threadIdx.x) % Lanes;
    for_rows<Lanes>(m.a.rows, [&](std::int64_t row, bool there) {
        const std::int32_t own = there ? m.a.own(row) : 0;
        const T v_i = there ? m.v[own] : T(0);
        const T weight_i = there ? m.weights[own] : T(0);
        const std::int64_t end = there ? m.a.offsets[row + 1] : 0;
        std::int32_t count = 0;
        for (std::int64_t k = (there ? m.a.offsets[row] : 0) + lane; k < end;
             k += sparsified_at_once * Lanes) {
            std::int32_t column[sparsified_at_once];
            T value[sparsified_at_once];
            T v_j[sparsified_at_once];
            T weight_j[sparsified_at_once];
#pragma unroll
            for (int i = 0; i < sparsified_at_once; ++i) {
                const std::int64_t at = k + i * Lanes < end ? k + i * Lanes : k;
                column[i] = m.a.indices[at];
                value[i] = m.values[at];
                v_j[i] = m.v[column[i]];
                weight_j[i] = m.weights[column[i]];
            }
#pragma unroll
            for (int i = 0; i < sparsified_at_once; ++i) {
                if (k + i * Lanes >= end) continue;
                const bool kept = column[i] == own ||
                                  !is_small(value[i], m.drop, v_i, weight_i, v_j[i], weight_j[i]);
                m.kept[k + i * Lanes] = kept ? 1 : 0;
                count += kept ? 1 : 0;
            }
        }
        count = warp_sum<Lanes>(count);
        if (there && lane == 0) counts[row] = count;
    });
}

template <int Lanes, class T>
__global__ void __launch_bounds__(row_threads)
    fill_kept_kernel(const __grid_constant__ sparsified_rows<T> m, const std::int64_t* offsets,
                     std::int32_t* columns, T* values) {
    const int lane = static_cast<int>(threadIdx.x) % Lanes;
    const int first_of_team = lane_number() - lane;
    const unsigned lower = ((1u << lane) - 1) << first_of_team;
    const unsigned of_team = (Lanes == 32 ? all_lanes : (1u << (Lanes % 32)) - 1) << first_of_team;
    for_rows<Lanes>(m.a.rows, [&](std::int64_t row, bool there) {
        const std::int32_t own = there ? m.a.own(row) : 0;
        const T weight_i = there ? m.weights[own] : T(0);
        const std::int64_t begin = there ? m.a.offsets[row] : 0;
        const std::int64_t end = there ? m.a.offsets[row + 1] : 0;
        std::int64_t to = there ? offsets[row] : 0;
        std::int64_t diagonal = -1;
        T diagonal_value = 0;
        long long moved = 0;
        const int longest = __reduce_max_sync(all_lanes, static_cast<int>(end - begin));
        for (int first = 0; first < longest; first += sparsified_at_once * Lanes) {
            std::uint8_t kept[sparsified_at_once];
            std::int32_t column[sparsified_at_once];
            T value[sparsified_at_once];
            bool here[sparsified_at_once];
#pragma unroll
            for (int i = 0; i < sparsified_at_once; ++i) {
                const std::int64_t k = begin + first + i * Lanes + lane;
                here[i] = k < end;
                kept[i] = here[i] ? m.kept[k] : std::uint8_t{0};
                column[i] = here[i] ? m.a.indices[k] : own;
                value[i] = here[i] ? m.values[k] : T(0);
            }
#pragma unroll
            for (int i = 0; i < sparsified_at_once; ++i) {
                const unsigned stay = __ballot_sync(all_lanes, kept[i] != 0);
                if (kept[i] != 0) {
                    const std::int64_t at = to + __popc(stay & lower);
                    if (columns != nullptr) columns[at] = column[i];
                    values[at] = value[i];
                    if (column[i] == own) {
                        diagonal = at;
                        diagonal_value = value[i];
                    }
                } else if (here[i]) {
                    moved += units_moved(value[i], m.v[column[i]], weight_i);
                }
                to += __popc(stay & of_team);
            }
        }
#pragma unroll
        for (int by = Lanes / 2; by > 0; by /= 2) moved += __shfl_xor_sync(all_lanes, moved, by);
        if (diagonal >= 0 && moved != 0)
            values[diagonal] = static_cast<T>(diagonal_with(diagonal_value, moved));
    });
}

template <class T, class... Arguments>
void launch_sparsified(device& device, const sparsified_rows<T>& rows, int lanes,
                       void (*kernel)(sparsified_rows<T>, Arguments...), Arguments... arguments) {
    const launch_scope launch(device);
    const std::int64_t of_block = row_threads / lanes;
    kernel<<<launch.blocks(kernel, row_threads, (rows.a.rows + of_block - 1) / of_block),
             row_threads, 0, launch.stream()>>>(rows, arguments...);
    launch.check_launch();
}

constexpr std::int64_t many_entries = 64; ///< of a row: a warp takes it

} // namespace

template <class T>
void find_kept(device& device, const sparsified_rows<T>& rows, std::int32_t* counts) {
    const bool many = rows.mean_entries > many_entries;
    launch_sparsified(device, rows, many ? 32 : 8,
                      many ? find_kept_kernel<32, T> : find_kept_kernel<8, T>, counts);
}

template <class T>
void fill_kept(device& device, const sparsified_rows<T>& rows, const std::int64_t* offsets,
               std::int32_t* columns, T* values) {
    const bool many = rows.mean_entries > many_entries;
    launch_sparsified(device, rows, many ? 32 : 8,
                      many ? fill_kept_kernel<32, T> : fill_kept_kernel<8, T>, offsets, columns,
                      values);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void find_kept(device&, const sparsified_rows<T>&, std::int32_t*);                    \
    template void fill_kept(device&, const sparsified_rows<T>&, const std::int64_t*,               \
                            std::int32_t*, T*);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<aggregation::small_entries_step<T>,                                 \
                               aggregation::row_weight_step<T>,                                    \
                               aggregation::lost_entries_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
