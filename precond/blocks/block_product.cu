#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/precond/blocks/block_product.hpp>
#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/storage/load_once.cuh>

namespace krylith::cuda {

namespace {

/// The last groups of rows, in the order in which a kernel takes them, that may read ghosts: the
/// first one, which comes last, and the last two.
constexpr std::int64_t outer_groups = 3;

/// A lane has a row. Groups go round by one.
template <class T, int Dots>
__global__ void __launch_bounds__(block_threads)
    block_kernel(const __grid_constant__ compact_context parameter,
                 const __grid_constant__ spmv_operands<T> a,
                 const __grid_constant__ detail::borrowed_blocks<T> m) {
    __shared__ context_state state;
    if (!kernel_prologue(parameter, state)) return;
    row_epilogue<T, Dots, false> results(state.context, a);
    const std::int64_t rows = m.blocks.rows;
    const std::int64_t groups = (rows + block_threads - 1) / block_threads;
    for (std::int64_t position = blockIdx.x; position < groups; position += gridDim.x) {
        results.before_reading(m.has_ghosts && position + outer_groups >= groups);
        const std::int64_t group = position + 1 < groups ? position + 1 : 0;
        const std::int64_t row = group * block_threads + threadIdx.x;
        const bool there = row < rows;
        T sum = 0;
        if (there) {
            const detail::block_place place = m.blocks.places[row];
            const std::int64_t first = row - place.at;
            const T* const v = &m.blocks.at(row, 0);
            const int size = place.size;
            if (m.columns.are_own(first, first + size)) {
                const T* const x = a.x + m.columns.first + first;
                int j = 0;
                for (; j + 8 <= size; j += 8) {
                    T entry[8];
#pragma unroll
                    for (int u = 0; u < 8; ++u)
                        entry[u] = load_once(v + (j + u) * detail::slice_rows);
#pragma unroll
                    for (int u = 0; u < 8; ++u) sum += entry[u] * x[j + u];
                }
                T entry[8];
#pragma unroll
                for (int u = 0; u < 8; ++u)
                    entry[u] = j + u < size ? load_once(v + (j + u) * detail::slice_rows) : T(0);
#pragma unroll
                for (int u = 0; u < 8; ++u)
                    if (j + u < size) sum += entry[u] * x[j + u];
            } else {
                for (int j = 0; j < size; ++j)
                    sum += v[j * detail::slice_rows] * a.x[m.columns.of_row(first + j)];
            }
        }
        results.before_writing();
        if (there) results.row(row, sum);
    }
    results.leave();
}

template <class T>
class block_product_on_device final : public detail::block_product<T> {
public:
    using detail::block_product<T>::block_product;
    void apply(const spmv_arguments<T>& a) override {
        const std::int64_t groups = (this->a_.blocks.rows + block_threads - 1) / block_threads;
        launch_rows(*this->device_, a, groups, this->a_,
                    [](auto dots, auto) { return block_kernel<T, dots()>; });
    }
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_block_product(std::shared_ptr<device> device,
                                                     const detail::borrowed_blocks<T>& a) {
    return std::make_unique<block_product_on_device<T>>(std::move(device), a);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_block_product(                                 \
        std::shared_ptr<device>, const detail::borrowed_blocks<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
