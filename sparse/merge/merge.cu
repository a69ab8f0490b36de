// CSR on CUDA by merge path (merge_path.hpp): every block multiplies as many rows + nonzeros as any
// other, whatever the lengths of rows.
//
// A product moves 12 bytes an entry (fp64), 4 or 8 a row of offsets, 8 a row of x and of y. Rows
// that lie in several chunks of the path (at most one a chunk) are written by the last block.

#include <limits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/merge/merge_product.hpp>
#include <krylith/sparse/merge/merge_tile.cuh>
#include <krylith/sparse/residual/row_kernels.cuh>
#include <krylith/sparse/storage/block_array.hpp>
#include <krylith/sparse/storage/boundary_order.hpp>

namespace krylith::cuda {

namespace {

/// The product. Four blocks of a multiprocessor, 64 registers a thread: loads of the next tile are
/// in flight while one is summed up.
template <class T, class Offset, int Dots, bool Shared>
__global__ void __launch_bounds__(block_threads, 4)
    merge_kernel(const __grid_constant__ compact_context parameter,
                 const __grid_constant__ spmv_operands<T> a,
                 const __grid_constant__ merge_view<T, Offset> m) {
    __shared__ context_state state;
    __shared__ merge_shared<T> s;
    merge_chunks chunks;
    const merge_step first = chunks.next(m);
    merge_loads<T, Offset> loads;
    if (!product_prologue<Shared>(parameter, state, a, [&] { loads.start(m, first); })) return;
    row_epilogue<T, Dots, Shared> results(state.context, a);
    dense_terms<T> terms{a.x};
    multiply_chunks(m, terms, s, chunks, first, loads, results);
    results.leave(m.chunks > 1,
                  [&] { join_chunks<dense_terms<T>>(m.edges, m.chunks, s.carry, results); });
}

/// Finds the rows of which each chunk may have entries.
__global__ void __launch_bounds__(block_threads)
    find_chunk_rows(const std::int64_t* offsets, std::int64_t rows, merge_division path,
                    std::int32_t* first, std::int32_t* last) {
    for (std::int64_t chunk = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         chunk < path.chunks; chunk += std::int64_t{gridDim.x} * block_threads) {
        const touched_rows touched = rows_of_chunk(offsets, rows, path, chunk);
        first[chunk] = static_cast<std::int32_t>(touched.first);
        last[chunk] = static_cast<std::int32_t>(touched.last);
    }
}

/// The order of chunks: those of the boundary come last.
boundary_order order_chunks(const std::shared_ptr<device>& device, const device_pattern& pattern,
                            const merge_division& path) {
    if (pattern.boundary == nullptr) return {{}, path.chunks};
    const auto chunks = static_cast<std::size_t>(path.chunks);
    const buffer<std::int32_t> rows(device, 2 * chunks, "set-up");
    if (chunks != 0) {
        const launch_scope launch(*device);
        find_chunk_rows<<<launch.blocks(find_chunk_rows, block_threads,
                                        path.chunks / block_threads + 1),
                          block_threads, 0, launch.stream()>>>(
            pattern.offsets, pattern.lengths.rows, path, rows.data(), rows.data() + chunks);
        launch.check_launch();
    }
    const auto waits = groups_on_boundary(
        device, {path.chunks, 0, 0, rows.data(), rows.data() + chunks, nullptr}, pattern.boundary);
    return order_groups(path.chunks, [&](std::int32_t chunk) {
        return waits[static_cast<std::size_t>(chunk)] != 0;
    });
}

template <class T, class Offset>
class merge_matrix final : public device_matrix<T>, private whole_intake<T> {
public:
    merge_matrix(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)), rows_(block.rows) {
        const std::string item = "matrix";
        const resident_pattern pattern(device_, block, false);
        offsets_ = buffer<Offset>(device_, static_cast<std::size_t>(rows_) + 1, item);
        move_indices(*device_, pattern->offsets, rows_ + 1, 0, offsets_.data());
        columns_ = columns_of(device_, block, item);
        values_ = values_of(device_, block, item);
        path_ = divide_merge_path(rows_, block.nonzeros(), teams());
        const boundary_order order = order_chunks(device_, *pattern, path_);
        order_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(order.groups), item);
        interior_ = order.interior;
        scratch_ =
            buffer<std::byte>(device_, merge_scratch_bytes<T>(rows_, block.nonzeros()), item);
        find_merge_tiles<T>(*device_, offsets_.data(), rows_, block.nonzeros(), scratch_.data());
        device_->synchronize(); // before the pattern is given back
    }

    void apply(const spmv_arguments<T>& a) override {
        launch_rows(*device_, a, path_.chunks, view(), [](auto dots, auto shared) {
            return merge_kernel<T, Offset, dots(), shared()>;
        });
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
    [[nodiscard]] std::string name() const override { return "merge"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        return static_cast<std::int64_t>(columns_.size() * (sizeof(T) + sizeof(std::int32_t)) +
                                         offsets_.size() * sizeof(Offset));
    }

private:
    [[nodiscard]] const block_array<T>& array() const override { return values_; }
    [[nodiscard]] csr_rows<T, Offset> all_rows() const {
        return {offsets_.data(), columns_.data(), values_.data(), rows_};
    }
    /// The number of teams, which is the same for any number of dot products: the division of the
    /// path decides where sums are cut, and so their bits.
    [[nodiscard]] std::int64_t teams() const {
        const launch_scope launch(*device_);
        return launch.blocks(merge_kernel<T, Offset, 2, false>, block_threads, most_merge_chunks);
    }
    [[nodiscard]] merge_view<T, Offset> view() const {
        const auto parts = merge_scratch<T>::in(scratch_.data(), rows_, nonzeros());
        return {offsets_.data(), columns_.data(), values_.data(), path_.items,
                parts.tile_rows, order_.data(),   path_.tiles,    path_.tiles_per_chunk,
                path_.chunks,    interior_,       parts.edges};
    }
    [[nodiscard]] std::int64_t nonzeros() const { return path_.items - rows_; }

    std::shared_ptr<device> device_;
    std::int64_t rows_;
    merge_division path_{};
    buffer<Offset> offsets_;
    block_array<std::int32_t> columns_;
    block_array<T> values_;
    buffer<std::int32_t> order_;
    std::int32_t interior_ = 0;
    buffer<std::byte> scratch_; ///< merge_scratch
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_merge(std::shared_ptr<device> device,
                                             const local_csr<T>& block) {
    if (block.nonzeros() <= std::numeric_limits<std::int32_t>::max())
        return std::make_unique<merge_matrix<T, std::int32_t>>(std::move(device), block);
    return std::make_unique<merge_matrix<T, std::int64_t>>(std::move(device), block);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_merge(std::shared_ptr<device>,                 \
                                                          const local_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
