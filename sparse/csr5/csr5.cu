// CSR5 on CUDA (csr5_layout.hpp): every lane multiplies as many entries as any other, whatever the
// lengths of rows.
//
// A product moves 12 bytes an entry (fp64), 4 / sigma an entry for what describes the lanes, 4 an
// empty row, 8 a row of x and of y. Rows that lie in several chunks of tiles (at most one a chunk)
// are written by the last block.

#include <algorithm>
#include <limits>
#include <type_traits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/csr5/csr5_kernel.cuh>
#include <krylith/sparse/csr5/device_csr5.hpp>
#include <krylith/sparse/residual/row_kernels.cuh>
#include <krylith/sparse/storage/boundary_order.hpp>
#include <krylith/sparse/storage/bring_values.hpp>

namespace krylith::cuda {

namespace {

/// Finds the rows of which each chunk may have entries, and its empty rows, counted among them.
__global__ void __launch_bounds__(block_threads)
    find_rows_of_chunks(const std::uint32_t* tile_rows, std::int64_t rows, std::int64_t empty_rows,
                        csr5_division division, std::int32_t* first, std::int32_t* last,
                        std::int32_t* first_empty, std::int32_t* last_empty) {
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    const std::int64_t tiles = division.tiles;
    const std::int64_t chunk_tiles = std::int64_t{division.part_tiles} * csr5_parts;
    for (std::int64_t chunk = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         chunk < division.chunks; chunk += stride) {
        const std::int64_t begin = chunk * chunk_tiles;
        const std::int64_t end = begin + chunk_tiles < tiles ? begin + chunk_tiles : tiles;
        first[chunk] = begin < end ? csr5_tile_row::row(tile_rows[begin]) : 0;
        const std::int64_t behind =
            begin < end ? std::int64_t{csr5_tile_row::row(tile_rows[end])} + 1 : 0;
        last[chunk] = static_cast<std::int32_t>(behind < rows ? behind : rows);
        first_empty[chunk] =
            static_cast<std::int32_t>(empty_rows_before(empty_rows, chunk, division.chunks));
        last_empty[chunk] =
            static_cast<std::int32_t>(empty_rows_before(empty_rows, chunk + 1, division.chunks));
    }
}

/// The order of chunks: those of the boundary come last.
boundary_order order_csr5_chunks(const std::shared_ptr<device>& device,
                                 const device_pattern& pattern, const device_csr5& tiles,
                                 const csr5_division& division) {
    if (pattern.boundary == nullptr) return {{}, division.chunks};
    const auto chunks = static_cast<std::size_t>(division.chunks);
    const buffer<std::int32_t> rows(device, 4 * chunks, "set-up");
    std::int32_t* const first = rows.data();
    std::int32_t* const first_empty = first + 2 * chunks;
    const auto empty = static_cast<std::int64_t>(tiles.empty_rows.size());
    {
        const launch_scope launch(*device);
        find_rows_of_chunks<<<launch.blocks(find_rows_of_chunks, block_threads,
                                            division.chunks / block_threads + 1),
                              block_threads, 0, launch.stream()>>>(
            tiles.tile_rows.data(), pattern.lengths.rows, empty, division, first, first + chunks,
            first_empty, first_empty + chunks);
        launch.check_launch();
    }
    const auto waits = groups_on_boundary(
        device, {division.chunks, 0, 0, first, first + chunks, nullptr}, pattern.boundary);
    const auto empty_waits = groups_on_boundary(
        device,
        {division.chunks, empty, 0, first_empty, first_empty + chunks, tiles.empty_rows.data()},
        pattern.boundary);
    return order_groups(division.chunks, [&](std::int32_t chunk) {
        const auto at = static_cast<std::size_t>(chunk);
        return waits[at] != 0 || empty_waits[at] != 0;
    });
}

/// The rows of a block, entry by entry (sparse/residual/block_rows.hpp).
template <class T>
struct csr5_rows {
    csr5_view<T> matrix;
    csr5_shape shape;
    std::int64_t places;

    [[nodiscard]] __device__ std::int64_t row(std::int64_t place) const { return place; }
    [[nodiscard]] __device__ std::int64_t length(std::int64_t place) const {
        return matrix.offsets[place + 1] - matrix.offsets[place];
    }
    template <class Entry>
    __device__ void visit(std::int64_t place, int lane, int lanes, const Entry& entry) const {
        for (std::int64_t k = matrix.offsets[place] + lane; k < matrix.offsets[place + 1];
             k += lanes) {
            const std::int64_t at = shape.place_of(k, matrix.nonzeros);
            entry(matrix.columns[at], matrix.values[at]);
        }
    }
};

/// The number of values that wait on the device to be brought into the order of tiles: 64 MB of
/// double. Memory for `kept_values` stays for the next update: small matrices are updated often.
constexpr std::int64_t staged_values = std::int64_t{1} << 23;
constexpr std::int64_t kept_values = std::int64_t{1} << 20;

template <class T, int Sigma>
class csr5_matrix final : public device_matrix<T>, private value_intake<T> {
public:
    csr5_matrix(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)), rows_(block.rows) {
        const std::string item = "matrix";
        const resident_pattern pattern(device_, block, true);
        tiles_ = make_device_csr5(device_, *pattern, Sigma);
        offsets_ = buffer<std::int64_t>(device_, static_cast<std::size_t>(rows_) + 1, item);
        move_indices(*device_, pattern->offsets, rows_ + 1, 0, offsets_.data());
        values_ = buffer<T>(device_, static_cast<std::size_t>(tiles_.nonzeros), item);
        division_ = divide_csr5_tiles(tiles_.tiles,
                                      static_cast<std::int64_t>(tiles_.empty_rows.size()), teams());
        const auto chunks = static_cast<std::size_t>(division_.chunks);
        edge_sums_ = buffer<T>(device_, 2 * chunks, item);
        edge_rows_ = buffer<std::int32_t>(device_, chunks, item);
        const boundary_order order = order_csr5_chunks(device_, *pattern, tiles_, division_);
        order_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(order.groups), item);
        interior_ = order.interior;
        if (block.device_values != nullptr)
            update_on_device(block.device_values);
        else if (!block.values_follow)
            update(block.values);
        device_->synchronize(); // before the pattern is given back
    }

    void apply(const spmv_arguments<T>& a) override {
        launch_rows(*device_, a, division_.chunks, view(),
                    [](auto dots, auto shared) { return csr5_kernel<T, Sigma, dots(), shared()>; });
    }

    void update(std::span<const T> values) override { bring_values(*device_, *this, values); }
    [[nodiscard]] value_intake<T>* intake() override { return this; }
    void update_on_device(const T* values) override {
        order_by_tiles(*device_, tiles_.shape, tiles_.nonzeros, 0, tiles_.nonzeros, values, 0,
                       values_.data());
    }
    void diagonal(T* d, const row_map& rows, std::int64_t first_owned) const override {
        compute_diagonal(*device_, all_rows(), rows, first_owned, d);
    }
    [[nodiscard]] buffer<residual_sums> residual(const residual_operands<T>& a) const override {
        return compute_residual(device_, all_rows(), a);
    }
    [[nodiscard]] std::string name() const override { return "csr5"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        return tiles_.nonzeros * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) +
               static_cast<std::int64_t>(
                   4 * (tiles_.tile_rows.size() + tiles_.lanes.size() + tiles_.empty_begin.size() +
                        tiles_.empty_offsets.size() + tiles_.empty_rows.size()));
    }

private:
    using piece = typename value_intake<T>::piece;

    /// Pieces are of whole tiles.
    [[nodiscard]] piece next_piece(std::int64_t first) override {
        const std::int64_t whole =
            staged_values / tiles_.shape.tile_entries() * tiles_.shape.tile_entries();
        const std::int64_t count = std::min(tiles_.nonzeros - first, whole);
        if (count <= 0) return {nullptr, 0};
        buffer<T>& staging = count <= kept_values ? staging_ : large_staging_;
        if (static_cast<std::int64_t>(staging.size()) < count)
            staging = buffer<T>(device_, static_cast<std::size_t>(count), "matrix update");
        return {staging.data(), count};
    }
    void take_piece(std::int64_t first, const piece& brought) override {
        order_by_tiles(*device_, tiles_.shape, tiles_.nonzeros, first, first + brought.size,
                       static_cast<const T*>(brought.to), first, values_.data());
    }
    void end_update() override { large_staging_ = {}; }

    /// The number of teams, which is the same for any number of dot products: the division decides
    /// where sums are cut, and so their bits.
    [[nodiscard]] std::int64_t teams() const {
        const launch_scope launch(*device_);
        return launch.blocks(csr5_kernel<T, Sigma, 2, false>, block_threads, most_merge_chunks);
    }
    [[nodiscard]] csr5_rows<T> all_rows() const { return {view(), tiles_.shape, rows_}; }
    [[nodiscard]] csr5_view<T> view() const {
        T* const sums = edge_sums_.data();
        return {values_.data(),
                tiles_.columns.data(),
                offsets_.data(),
                tiles_.tile_rows.data(),
                tiles_.lanes.data(),
                tiles_.empty_begin.data(),
                tiles_.empty_offsets.data(),
                tiles_.empty_rows.data(),
                order_.data(),
                {sums, sums + division_.chunks, edge_rows_.data()},
                tiles_.nonzeros,
                static_cast<std::int64_t>(tiles_.empty_rows.size()),
                division_,
                interior_};
    }

    std::shared_ptr<device> device_;
    std::int64_t rows_;
    device_csr5 tiles_;
    csr5_division division_{};
    buffer<std::int64_t> offsets_;
    buffer<T> values_; ///< in the order of tiles
    buffer<T> edge_sums_;
    buffer<std::int32_t> edge_rows_;
    buffer<std::int32_t> order_;
    std::int32_t interior_ = 0;
    buffer<T> staging_;       ///< of updates from the host
    buffer<T> large_staging_; ///< the same, for the time of an update
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_csr5(std::shared_ptr<device> device,
                                            const local_csr<T>& block) {
    if (choose_csr5_sigma(block.rows, block.nonzeros()) == 8)
        return std::make_unique<csr5_matrix<T, 8>>(std::move(device), block);
    return std::make_unique<csr5_matrix<T, most_csr5_sigma>>(std::move(device), block);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_csr5(std::shared_ptr<device>,                  \
                                                         const local_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
