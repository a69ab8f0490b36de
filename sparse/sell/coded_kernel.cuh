// The product of matrices most of whose slices have values of one form: a table's, or exact in half
// their bits, or full ones with columns in triples (sell_view.hpp).
#pragma once

#include <cstdint>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/sparse/epilogue/row_epilogue.cuh>
#include <krylith/sparse/sell/coded_product.cuh>
#include <krylith/sparse/sell/sell_slices.cuh>

namespace krylith::cuda {

/// Returns the product of a lane's row with x, of any slice, those of the kernel's form by code
/// that is made for them. Slices with full values are so only with triples.
template <value_code Form, class T>
__device__ inline T product_by_form(const sell_view<T>& m, const slice_head& head,
                                    std::int32_t slice, std::int32_t row, const T* x,
                                    const T* table, int lane) {
    constexpr bool others = Form != value_code::full;
    if (head.values() == Form) {
        switch (head.code()) {
        case column_code::triples:
            return coded_product<Form, column_code::triples>(m, head, slice, row, x, table, lane);
        case column_code::diagonal:
            if constexpr (others)
                return coded_product<Form, column_code::diagonal>(m, head, slice, row, x, table,
                                                                  lane);
            break;
        case column_code::narrow:
            if constexpr (others)
                return coded_product<Form, column_code::narrow>(m, head, slice, row, x, table,
                                                                lane);
            break;
        case column_code::wide:
            if constexpr (others)
                return coded_product<Form, column_code::wide>(m, head, slice, row, x, table, lane);
            break;
        }
    }
    if (head.code() == column_code::triples) return triples_product(m, head, row, x, lane);
    return product_alone(m, slice, row, x, lane);
}

/// Blocks of a multiprocessor. With double they have 80 registers a thread; 4 blocks spill: with 7
/// points a product takes 48% longer, with 81 entries a row as long within 4%.
template <class T>
inline constexpr int coded_blocks_per_sm = sizeof(T) == 8 ? 3 : 4;

/// A warp multiplies a slice at a time. To load the first entries of the next slice before x takes
/// registers that are not there: products take 12 to 14% longer.
template <class T, int Dots, bool Shared, value_code Form>
__global__ void __launch_bounds__(block_threads, coded_blocks_per_sm<T>)
    coded_kernel(const __grid_constant__ compact_context parameter,
                 const __grid_constant__ spmv_operands<T> a,
                 const __grid_constant__ sell_view<T> m) {
    __shared__ context_state state;
    __shared__ T table[Form == value_code::table ? table_size : 1];
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x);
    auto position = static_cast<std::int32_t>(blockIdx.x);
    // The head of the next slice is loaded one iteration ahead: the loads of a row depend on it.
    slice_head next_head;
    std::int32_t next_slice;
    std::int32_t next_row;
    const auto look_up = [&](std::int32_t t) {
        next_slice = m.slices;
        if (t < m.groups) next_slice = (m.order != nullptr ? m.order[t] : t) * block_warps + warp;
        next_head = {0, 0, slice_shape(0, column_code::triples, Form), 0};
        next_row = -1;
        if (next_slice >= m.slices) return;
        next_head = load_head(m.heads + next_slice);
        next_row = row_at(m, std::int64_t{next_slice} * slice_rows + lane);
    };
    look_up(position);
    if constexpr (Form == value_code::table)
        for (int i = static_cast<int>(threadIdx.x); i < table_size; i += block_threads)
            table[i] = m.table[i];
    if (!product_prologue<Shared>(parameter, state, a)) return;
    __syncthreads(); // the table is there
    row_epilogue<T, Dots, Shared> results(state.context, a);
    while (position < m.groups) {
        results.before_reading(position >= m.interior);
        const slice_head head = next_head;
        const std::int32_t slice = next_slice;
        const std::int32_t row = next_row;
        position += stride;
        look_up(position);
        const T sum = product_by_form<Form>(m, head, slice, row, a.x, table, lane);
        results.before_writing();
        if (row >= 0) results.row(row, sum);
    }
    results.leave();
}

} // namespace krylith::cuda
