// The columns of rows of C whose products keep no places.
#include <krylith/device/cuda/shared_memory.cuh>
#include <krylith/sparse/spgemm/blocked_rows.cuh>
#include <krylith/sparse/spgemm/byte_peak.hpp>
#include <krylith/sparse/spgemm/spgemm_plan.hpp>
#include <krylith/sparse/spgemm/wide_rows.cuh>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

/// Writes the columns of rows that the symbolic phase kept, and lists the others: a warp a row.
__global__ void __launch_bounds__(block_threads)
    copy_kept(const row_list rows, const std::int32_t* kept_columns, const std::uint32_t* kept_at,
              const std::int64_t* offsets, std::int32_t* columns, const overflow_list others) {
    const std::int64_t stride = std::int64_t{gridDim.x} * block_warps;
    for (std::int64_t item = std::int64_t{blockIdx.x} * block_warps + threadIdx.x / 32;
         item < rows.count; item += stride) {
        const std::int64_t row = rows.rows != nullptr ? rows.rows[item] : item;
        const std::uint32_t at = kept_at[row];
        if (at == 0) {
            if (lane_number() == 0) others.add(row);
            continue;
        }
        const std::int64_t begin = offsets[row];
        const std::int64_t length = offsets[row + 1] - begin;
        for (std::int64_t k = lane_number(); k < length; k += 32)
            columns[begin + k] = kept_columns[at - 1 + k];
    }
}

} // namespace

void write_searched_columns(const std::shared_ptr<device>& device, const spgemm_plan& plan,
                            const csr_pattern& a, const csr_pattern& b, const std::int64_t* offsets,
                            std::int32_t* columns) {
    const row_list rows = plan.rows_of[static_cast<int>(sum_class::searched)];
    if (rows.count == 0) return;
    plan.next.zero();
    auto* const counters = reinterpret_cast<unsigned*>(plan.next.data());
    const bool blocked = b.columns >= least_blocked_columns;
    const bool kept = plan.kept_at.size() != 0;
    const auto count = static_cast<std::size_t>(rows.count);
    const buffer<std::int32_t> not_kept(device, kept ? count : 0, product_item);
    const buffer<std::int32_t> overflow(device, blocked ? count : 0, product_item);
    joined_lists left{rows, nullptr, nullptr};
    const launch_scope launch(*device);
    if (kept) {
        const auto kernel = copy_kept;
        kernel<<<launch.blocks(kernel, block_threads, rows.count / block_warps + 1), block_threads,
                 0, launch.stream()>>>(rows, plan.kept_columns.data(), plan.kept_at.data(), offsets,
                                       columns, overflow_list{not_kept.data(), counters + 1});
        launch.check_launch();
        left = {row_list{nullptr, 0}, not_kept.data(), counters + 1};
    }
    if (blocked) {
        const auto kernel = blocked_rows<true>;
        kernel<<<launch.blocks(kernel, block_threads, rows.count), block_threads, 0,
                 launch.stream()>>>(a, b, left, plan.width, nullptr, offsets, columns,
                                    column_pool{}, overflow_list{overflow.data(), counters});
        launch.check_launch();
        left = {row_list{nullptr, 0}, overflow.data(), counters};
    }
    const auto kernel = wide_rows<true>;
    const std::size_t shared = range_bytes(b.columns);
    allow_shared(kernel, shared);
    kernel<<<launch.blocks(kernel, block_threads, rows.count, shared), block_threads, shared,
             launch.stream()>>>(a, b, left, plan.width, nullptr, offsets, columns, counters + 2);
    launch.check_launch();
}

} // namespace krylith::cuda
