// CSR on CUDA: a block multiplies a tile of rows through shared memory, so that the matrix is read
// with unit stride whatever the row lengths.
//
// A product moves 12 bytes an entry (fp64), 4 or 8 a row of offsets, 8 a row of x and of y.

#include <algorithm>
#include <limits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/pattern/csr_tiles.hpp>
#include <krylith/sparse/residual/row_kernels.cuh>
#include <krylith/sparse/storage/block_array.hpp>
#include <krylith/sparse/storage/boundary_order.hpp>
#include <krylith/sparse/storage/load_once.cuh>

namespace krylith::cuda {

namespace {

template <class T, class Offset>
struct csr_tiles_view {
    const Offset* offsets; ///< rows + 1, the first is 0
    const std::int32_t* columns;
    const T* values;
    const std::int32_t* first_row; ///< [tiles + 1]
    const std::int32_t* order;     ///< or null
    std::int32_t tiles;
    std::int32_t interior;
};

template <class T, class Offset, int Dots, bool Shared>
__global__ void __launch_bounds__(block_threads, 6) // more blocks would spill registers
    csr_kernel(const __grid_constant__ compact_context parameter,
               const __grid_constant__ spmv_operands<T> a,
               const __grid_constant__ csr_tiles_view<T, Offset> m) {
    __shared__ context_state state;
    __shared__ T product[csr_tile_entries];
    __shared__ T warp_sums[block_warps];
    if (!product_prologue<Shared>(parameter, state, a)) return;
    row_epilogue<T, Dots, Shared> results(state.context, a);
    const int me = static_cast<int>(threadIdx.x);
    for (auto position = static_cast<std::int32_t>(blockIdx.x); position < m.tiles;
         position += static_cast<std::int32_t>(gridDim.x)) {
        results.before_reading(position >= m.interior);
        const std::int32_t tile = m.order != nullptr ? m.order[position] : position;
        const std::int32_t row0 = m.first_row[tile];
        const std::int32_t rows = m.first_row[tile + 1] - row0;
        const Offset start = m.offsets[row0];
        const Offset count = m.offsets[row0 + rows] - start;
        results.before_writing();
        if (count > csr_tile_entries) { // one long row: the whole block adds it up
            T sum = 0;
            for (Offset i = me; i < count; i += block_threads)
                sum += load_once(m.values + start + i) * a.x[load_once(m.columns + start + i)];
            store_warp_sum(sum, warp_sums);
            __syncthreads();
            if (me == 0) results.row(row0, sum_of_warps(warp_sums));
            __syncthreads();
            continue;
        }
        constexpr int in_flight = csr_tile_entries / block_threads;
        std::int32_t column[in_flight];
        T value[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            const int i = me + u * block_threads;
            column[u] = i < count ? load_once(m.columns + start + i) : -1;
            value[u] = i < count ? load_once(m.values + start + i) : T(0);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            if (column[u] >= 0) product[me + u * block_threads] = value[u] * a.x[column[u]];
        __syncthreads();
        if (me < rows) {
            const auto begin = static_cast<int>(m.offsets[row0 + me] - start);
            const auto end = static_cast<int>(m.offsets[row0 + me + 1] - start);
            T sum = 0;
            for (int i = begin; i < end; ++i) sum += product[i];
            results.row(row0 + me, sum);
        }
        __syncthreads();
    }
    results.leave();
}

template <class T, class Offset>
class csr_matrix_on_device final : public device_matrix<T>, private whole_intake<T> {
public:
    csr_matrix_on_device(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)) {
        const std::string item = "matrix";
        const resident_pattern pattern(device_, block, false);
        const std::int64_t rows = pattern->lengths.rows;
        offsets_ = buffer<Offset>(device_, static_cast<std::size_t>(rows) + 1, item);
        move_indices(*device_, pattern->offsets, rows + 1, 0, offsets_.data());
        columns_ = columns_of(device_, block, item);
        values_ = values_of(device_, block, item);
        first_row_ = cuda::make_csr_tiles(device_, pattern->offsets, rows);
        tiles_ = static_cast<std::int32_t>(first_row_.size()) - 1;
        const boundary_order order = pattern->boundary == nullptr
                                         ? spread_groups(tiles_, first_alone(block.alone, rows))
                                         : boundary_last(pattern->boundary);
        order_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(order.groups), item);
        interior_ = order.interior;
        device_->synchronize(); // before the pattern is given back
    }

    void apply(const spmv_arguments<T>& a) override {
        launch_rows(*device_, a, tiles_, view(),
                    [](auto dots, auto shared) { return csr_kernel<T, Offset, dots(), shared()>; });
    }

    void update(std::span<const T> values) override { values_.upload(values); }
    [[nodiscard]] value_intake<T>* intake() override { return this; }
    void update_on_device(const T* values) override { values_.take(*device_, values); }
    void diagonal(T* d, const row_map& rows, std::int64_t first_owned) const override {
        compute_diagonal(*device_, all_rows(), rows, first_owned, d);
    }
    [[nodiscard]] buffer<residual_sums> residual(const residual_operands<T>& a) const override {
        return compute_residual(device_, all_rows(), a);
    }
    [[nodiscard]] std::string name() const override { return "csr"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        return static_cast<std::int64_t>(columns_.size() * (sizeof(T) + sizeof(std::int32_t)) +
                                         offsets_.size() * sizeof(Offset));
    }
    [[nodiscard]] std::optional<compressed_rows<T>> compressed() const override {
        if constexpr (sizeof(Offset) == sizeof(std::int32_t))
            return compressed_rows<T>{offsets_.data(), nullptr, columns_.data(), values_.data()};
        else
            return compressed_rows<T>{nullptr, offsets_.data(), columns_.data(), values_.data()};
    }

private:
    [[nodiscard]] const block_array<T>& array() const override { return values_; }
    [[nodiscard]] csr_rows<T, Offset> all_rows() const {
        return {offsets_.data(), columns_.data(), values_.data(),
                static_cast<std::int64_t>(offsets_.size()) - 1};
    }
    /// Returns the first tile whose rows are computed by every device; their number if there is
    /// none.
    [[nodiscard]] std::int32_t first_alone(std::int64_t row, std::int64_t rows) const {
        if (row >= rows) return tiles_;
        const auto tiles = first_row_.download();
        return static_cast<std::int32_t>(
            std::ranges::lower_bound(tiles.begin(), tiles.end() - 1, row) - tiles.begin());
    }
    [[nodiscard]] boundary_order boundary_last(const std::uint8_t* boundary) const {
        const auto waits = groups_on_boundary(
            device_, {tiles_, 0, 0, first_row_.data(), first_row_.data() + 1, nullptr}, boundary);
        return order_groups(
            tiles_, [&](std::int32_t tile) { return waits[static_cast<std::size_t>(tile)] != 0; });
    }
    [[nodiscard]] csr_tiles_view<T, Offset> view() const {
        return {offsets_.data(), columns_.data(), values_.data(), first_row_.data(),
                order_.data(),   tiles_,          interior_};
    }

    std::shared_ptr<device> device_;
    buffer<Offset> offsets_;
    block_array<std::int32_t> columns_;
    block_array<T> values_;
    buffer<std::int32_t> first_row_;
    buffer<std::int32_t> order_;
    std::int32_t tiles_ = 0;
    std::int32_t interior_ = 0;
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_csr(std::shared_ptr<device> device,
                                           const local_csr<T>& block) {
    if (block.nonzeros() <= std::numeric_limits<std::int32_t>::max())
        return std::make_unique<csr_matrix_on_device<T, std::int32_t>>(std::move(device), block);
    return std::make_unique<csr_matrix_on_device<T, std::int64_t>>(std::move(device), block);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_csr(std::shared_ptr<device>,                   \
                                                        const local_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
