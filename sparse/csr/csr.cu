// CSR on CUDA: a block multiplies a tile of rows through shared memory, so that the matrix is read
// with unit stride whatever the row lengths.
//
// A product moves 12 bytes an entry (fp64), 4 or 8 a row of offsets, 8 a row of x and of y.

#include <algorithm>
#include <limits>
#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/csr/csr_diagonal.cuh>
#include <krylith/sparse/csr/csr_tiles.hpp>
#include <krylith/sparse/epilogue/row_kernel.cuh>
#include <krylith/sparse/storage/block_array.hpp>
#include <krylith/sparse/storage/boundary_order.hpp>

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

template <class T, class Offset, int Dots, bool Split>
__global__ void __launch_bounds__(block_threads, Split ? 5 : 6) // more blocks would spill registers
    csr_kernel(const __grid_constant__ compact_context parameter,
               const __grid_constant__ spmv_operands<T> a,
               const __grid_constant__ csr_tiles_view<T, Offset> m) {
    __shared__ context_state state;
    const compact_context& context = state.context; // complete after the prologue
    __shared__ T product[csr_tile_entries];
    __shared__ T warp_sums[block_warps];
    if (!kernel_prologue(parameter, state)) return;
    give_result_credit(context, a);
    const int me = static_cast<int>(threadIdx.x);
    double dots[Dots == 0 ? 1 : Dots] = {};
    bool ghosts_there = !awaits_peers<Split>(a);
    bool receivers_ready = false;
    for (auto position = static_cast<std::int32_t>(blockIdx.x); position < m.tiles;
         position += static_cast<std::int32_t>(gridDim.x)) {
        if (!ghosts_there && position >= m.interior) {
            wait_for_ghosts<Split>(context, a);
            ghosts_there = true;
        }
        const std::int32_t tile = m.order != nullptr ? m.order[position] : position;
        const std::int32_t row0 = m.first_row[tile];
        const std::int32_t rows = m.first_row[tile + 1] - row0;
        const Offset start = m.offsets[row0];
        const Offset count = m.offsets[row0 + rows] - start;
        if (!receivers_ready) {
            wait_for_receivers(context, a);
            receivers_ready = true;
        }
        if (count > csr_tile_entries) { // one long row: the whole block adds it up
            T sum = 0;
            for (Offset i = me; i < count; i += block_threads)
                sum += load_once(m.values + start + i) * a.x[load_once(m.columns + start + i)];
            store_warp_sum(sum, warp_sums);
            __syncthreads();
            if (me == 0) write_row<Dots, Split>(context, a, row0, sum_of_warps(warp_sums), dots);
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
            write_row<Dots, Split>(context, a, row0 + me, sum, dots);
        }
        __syncthreads();
    }
    kernel_epilogue<Dots, Split>(context, a, dots);
}

template <class T, class Offset>
class csr_matrix_on_device final : public device_matrix<T> {
public:
    csr_matrix_on_device(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)) {
        const std::string item = "matrix";
        std::vector<Offset> offsets(block.offsets.size());
        for (std::size_t i = 0; i < offsets.size(); ++i)
            offsets[i] = static_cast<Offset>(block.offsets[i] - block.offsets.front());
        const auto tiles = make_csr_tiles(block.offsets);
        const auto count = static_cast<std::int32_t>(tiles.size()) - 1;
        const auto reads_ghosts = [&](std::int32_t t) {
            for (std::int32_t row = tiles[static_cast<std::size_t>(t)];
                 row < tiles[static_cast<std::size_t>(t) + 1]; ++row)
                if (block.boundary[static_cast<std::size_t>(row)] != 0) return true;
            return false;
        };
        const auto alone = static_cast<std::int32_t>(std::min(block.alone, block.rows));
        const boundary_order order =
            block.boundary.empty()
                ? spread_groups(
                      count, static_cast<std::int32_t>(
                                 std::ranges::lower_bound(tiles.begin(), tiles.end() - 1, alone) -
                                 tiles.begin()))
                : order_groups(count, reads_ghosts);
        offsets_ = buffer<Offset>(device_, std::span<const Offset>(offsets), item);
        columns_ = columns_of(device_, block, item);
        values_ = values_of(device_, block, item);
        first_row_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(tiles), item);
        order_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(order.groups), item);
        tiles_ = count;
        interior_ = order.interior;
    }

    void apply(const spmv_arguments<T>& a) override {
        const launch_scope launch(*device_);
        dispatch_product(a, [&](auto dots, auto split) {
            const auto kernel = csr_kernel<T, Offset, dots(), split()>;
            kernel<<<launch.blocks(kernel, block_threads, tiles_), block_threads, 0,
                     launch.stream()>>>(compact(a.common), a, view());
        });
        launch.check_launch();
    }

    void update(std::span<const T> values) override { values_.upload(values); }
    void update_on_device(const T* values) override { values_.take(*device_, values); }
    void diagonal(T* d, const row_map& rows) const override {
        csr_diagonal(*device_, offsets_.data(), columns_.data(), values_.data(),
                     static_cast<std::int64_t>(offsets_.size()) - 1, rows, d);
    }
    [[nodiscard]] std::string name() const override { return "csr"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        return static_cast<std::int64_t>(columns_.size() * (sizeof(T) + sizeof(std::int32_t)) +
                                         offsets_.size() * sizeof(Offset));
    }

private:
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
    if (block.offsets.back() - block.offsets.front() <= std::numeric_limits<std::int32_t>::max())
        return std::make_unique<csr_matrix_on_device<T, std::int32_t>>(std::move(device), block);
    return std::make_unique<csr_matrix_on_device<T, std::int64_t>>(std::move(device), block);
}

template std::unique_ptr<device_matrix<double>> make_csr(std::shared_ptr<device>,
                                                         const local_csr<double>&);
template std::unique_ptr<device_matrix<float>> make_csr(std::shared_ptr<device>,
                                                        const local_csr<float>&);

} // namespace krylith::cuda
