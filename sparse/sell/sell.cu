// SELL-32 on CUDA: one thread for each row, with unit stride across the warp.
//
// A product moves (fp64) 8.25, 8.75, 10.25 or 12 bytes a stored entry (sell_view.hpp says when),
// about 7.5 less in uniform slices, 7 where values come from a table and 4 where they are in half
// their bits, 8 a row of x and of y, 0.5 a row for the heads of slices, and 4 a row if sorted.

#include <algorithm>
#include <limits>

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/pattern/sell_layout.hpp>
#include <krylith/sparse/residual/row_kernels.cuh>
#include <krylith/sparse/sell/coded_matrix.hpp>
#include <krylith/sparse/sell/device_sell.hpp>
#include <krylith/sparse/sell/narrow_values.hpp>
#include <krylith/sparse/sell/row_tile.cuh>
#include <krylith/sparse/sell/sell_slices.cuh>
#include <krylith/sparse/sell/stencil_product.hpp>
#include <krylith/sparse/sell/uniform_kernel.cuh>
#include <krylith/sparse/storage/boundary_order.hpp>
#include <krylith/sparse/storage/bring_values.hpp>

namespace krylith::cuda {

namespace {

constexpr int group_slices = block_warps; ///< one warp for each slice

/// Blocks of a multiprocessor. With double they have 64 registers a thread; 5 blocks cost a CG
/// iteration on 256^3 26%, 6 54%, 8 116%: they spill. Loads of float bring half the bytes, so that
/// more threads are needed to keep the memory busy: with 48 registers, which two dot products don't
/// fit into, a product takes 209 us instead of 238, with 40 it spills and takes 339. A slice loaded
/// ahead costs registers, too: 307.
template <class T, int Dots>
constexpr int sell_blocks_per_sm = sizeof(T) == 4 && Dots < 2 ? 5 : 4;

/// Whether uniform_kernel(), which takes several groups at a time, is faster than a kernel that
/// takes one. With 7 entries a row it wins by 1% on 256^3 rows in fp64, where it loses 10% on
/// 128^3, and loses 20% in fp32; with 27 it wins by 8% on 128^3. In between nothing was measured.
template <class T>
[[nodiscard]] constexpr bool pays_together(std::int64_t groups, std::int64_t slice_columns) {
    const bool long_rows = slice_columns >= 14 * groups * group_slices;
    if (!long_rows && sizeof(T) == 4) return false;
    return groups >= (long_rows ? 8192 : 32768);
}

/// `Ahead` is for matrices with many values; the other form for small ones whose slices are mostly
/// uniform and diagonal. Slices with triples have coded_kernel().
template <class T, int Dots, bool Shared, bool Ahead>
__global__ void __launch_bounds__(block_threads, (sell_blocks_per_sm<T, Dots>))
    sell_kernel(const __grid_constant__ compact_context parameter,
                const __grid_constant__ spmv_operands<T> a,
                const __grid_constant__ sell_view<T> m) {
    __shared__ context_state state;
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int lane = static_cast<int>(threadIdx.x & 31);
    const auto stride = static_cast<std::int32_t>(gridDim.x);
    auto position = static_cast<std::int32_t>(blockIdx.x);
    // The head of the next slice is loaded one iteration ahead: the loads of a row depend on it.
    slice_head head;
    std::int32_t row;
    const auto look_up = [&](std::int32_t t) {
        std::int32_t slice = m.slices;
        if (t < m.groups) slice = (m.order != nullptr ? m.order[t] : t) * group_slices + warp;
        head = {0, 0, slice_shape(0, column_code::wide), 0};
        row = -1;
        if (slice >= m.slices) return;
        head = load_head(m.heads + slice);
        row = row_at(m, std::int64_t{slice} * slice_rows + lane);
    };
    look_up(position);
    warp_slice<T, Ahead> slice;
    // The matrix doesn't depend on what the prologue waits for.
    if (!product_prologue<Shared>(parameter, state, a, [&] { slice.start(m, head, row, lane); }))
        return;
    row_epilogue<T, Dots, Shared> results(state.context, a);
    while (position < m.groups) {
        results.before_reading(position >= m.interior);
        position += stride;
        look_up(position);
        const T sum = slice.product(m, a.x, lane);
        results.before_writing();
        if (slice.row >= 0) results.row(slice.row, sum);
        if (position < m.groups) slice.start(m, head, row, lane);
    }
    results.leave();
}

/// Copies values from CSR order to that of the slices, for places [first, last), which begin and
/// end with slices, a warp for each slice; `from` is where entry `base` of the block lies.
template <class T, class Offset>
__global__ void __launch_bounds__(block_threads)
    write_slices(const __grid_constant__ sell_view<T> m, const Offset* offsets, std::int64_t first,
                 std::int64_t last, const T* from, std::int64_t base, T* to) {
    __shared__ row_tile<T> tiles[block_warps];
    const int lane = lane_number();
    const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
    for (std::int64_t place = first + std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
         place - lane < last; place += stride) {
        const std::int32_t row = row_at(m, place);
        const slice_head head = load_head(m.heads + place / slice_rows);
        const bool gaps =
            head.code() == column_code::diagonal; // in other slices padding comes last
        const Offset begin = row < 0 ? Offset(base) : offsets[row];
        const auto length = static_cast<std::int32_t>(row < 0 ? 0 : offsets[row + 1] - begin);
        tiled_rows<T> entries(tiles[threadIdx.x / 32], from + (begin - base), length);
        T* slot = to + std::int64_t{head.first} * slice_rows + lane;
        const slice_step* const step = m.steps + head.first;
        std::int32_t taken = 0;
        for (std::int32_t k = 0; k < head.length(); ++k, slot += slice_rows) {
            const bool here = taken < length && (!gaps || (step[k].lanes >> lane & 1) != 0);
            const T value = entries.entry(taken, here);
            *slot = here ? value : T(0); // padding is 0
            if (here) ++taken;
        }
    }
}

/// The rows of a block, entry by entry (sparse/residual/block_rows.hpp).
template <class T>
struct sell_rows {
    sell_view<T> matrix;
    std::int64_t places; ///< lanes of all slices

    [[nodiscard]] __device__ std::int64_t row(std::int64_t place) const {
        return row_at(matrix, place);
    }
    [[nodiscard]] __device__ std::int64_t length(std::int64_t place) const {
        return load_head(matrix.heads + place / slice_rows).length();
    }
    template <class Entry>
    __device__ void visit(std::int64_t place, int lane, int lanes, const Entry& entry) const {
        const slice_reader<T> from =
            read_slice(matrix, static_cast<std::int32_t>(place / slice_rows),
                       static_cast<int>(place % slice_rows));
        for (std::int32_t k = lane; k < from.length; k += lanes)
            entry(from.column(k), from.value(k));
    }
};

/// The number of values that wait on the device to be sorted into slices, but for one window that
/// has more: 64 MB of double.
constexpr std::int64_t staged_entries = std::int64_t{1} << 23;
/// Memory for so many is kept for the next update: small matrices are updated often.
constexpr std::int64_t kept_entries = std::int64_t{1} << 20;

template <class T>
class sell_matrix final : public device_matrix<T>, private value_intake<T> {
public:
    sell_matrix(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)) {
        const std::string item = "matrix";
        const resident_pattern pattern(device_, block, true);
        const block_lengths& lengths = pattern->lengths;
        slices_ = cuda::make_device_sell(device_, *pattern);
        bytes_ = slices_.bytes(sizeof(T));
        keep_offsets(*pattern, item);
        values_ =
            buffer<T>(device_, static_cast<std::size_t>(slices_.slice_columns * slice_rows), item);
        narrow_ = narrow_values<T>(device_, slices_.slice_columns);

        const std::int64_t slices = (lengths.rows + slice_rows - 1) / slice_rows;
        places_ = slices * slice_rows;
        const auto groups = static_cast<std::int32_t>((slices + group_slices - 1) / group_slices);
        constexpr std::int64_t group_rows = std::int64_t{group_slices} * slice_rows;
        const std::int64_t alone = std::min(block.alone, lengths.rows);
        const boundary_order order =
            pattern->boundary == nullptr
                ? spread_groups(groups,
                                static_cast<std::int32_t>((alone + group_rows - 1) / group_rows))
                : boundary_last({groups, lengths.sorted ? places_ : lengths.rows, group_rows,
                                 nullptr, nullptr, slices_.rows.data()},
                                pattern->boundary);
        order_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(order.groups), item);
        view_ = {slices_.heads.data(),
                 slices_.steps.data(),
                 slices_.stored.data(),
                 values_.data(),
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr,
                 slices_.rows.data(),
                 order_.data(),
                 lengths.rows,
                 static_cast<std::int32_t>(slices),
                 groups,
                 order.interior,
                 bytes_,
                 static_cast<std::int32_t>(block.columns),
                 static_cast<std::int32_t>(block.first_owned)};
        if (block.device_values != nullptr)
            update_on_device(block.device_values);
        else if (!block.values_follow)
            update(block.values);
    }

    void apply(const spmv_arguments<T>& a) override {
        // A recording keeps the kernel, whatever values come later: all kernels take all.
        const std::int64_t columns = slices_.slice_columns;
        const bool uniform = 2 * narrow_.counts().diagonal > columns;
        if (reads_form())
            apply_coded(*device_, a, view_, narrow_.form());
        else if (slices_.triples != 0)
            apply_coded(*device_, a, view_, value_code::full);
        else if (has_stencil() && takes_lane_rows(a, view_.first_owned))
            apply_stencil(*device_, a, view_, narrow_.counts().shape);
        else if (uniform && pays_together<T>(view_.groups, columns))
            launch_rows(*device_, a, (view_.groups + slices_together - 1) / slices_together, view_,
                        [](auto dots, auto shared) { return uniform_kernel<T, dots(), shared()>; });
        else if (uniform)
            launch_rows(*device_, a, view_.groups, view_, [](auto dots, auto shared) {
                return sell_kernel<T, dots(), shared(), false>;
            });
        else
            launch_rows(*device_, a, view_.groups, view_, [](auto dots, auto shared) {
                return sell_kernel<T, dots(), shared(), true>;
            });
    }

    void update(std::span<const T> values) override { bring_values(*device_, *this, values); }
    [[nodiscard]] value_intake<T>* intake() override { return this; }

    void update_on_device(const T* values) override {
        fill(0, places_, values, 0);
        narrow_.find(view_, slices_.heads.data());
    }

    void diagonal(T* d, const row_map& rows, std::int64_t first_owned) const override {
        compute_diagonal(*device_, all_rows(), rows, first_owned, d);
    }
    [[nodiscard]] buffer<residual_sums> residual(const residual_operands<T>& a) const override {
        return compute_residual(device_, all_rows(), a);
    }

    [[nodiscard]] std::string name() const override { return "sell"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        constexpr auto value = static_cast<std::int64_t>(sizeof(T));
        constexpr auto entry = static_cast<std::int64_t>(sizeof(uniform_entry<T>));
        constexpr auto step = static_cast<std::int64_t>(sizeof(slice_step));
        const narrow_counts& counts = narrow_.counts();
        return bytes_ - counts.uniform * (slice_rows * value - entry) - counts.diagonal * step -
               counts.shared * entry -
               (reads_form() ? narrow_.coded() * slice_rows * value - narrow_.coded_bytes() : 0);
    }
    [[nodiscard]] double narrow_fraction() const override {
        const std::int64_t columns = slices_.slice_columns;
        if (columns == 0) return 0;
        const std::int64_t narrow = narrow_.counts().uniform + narrow_.coded();
        return static_cast<double>(narrow) / static_cast<double>(columns);
    }
    [[nodiscard]] const sell_view<T>* slices() const override { return &view_; }

private:
    using piece = typename value_intake<T>::piece;

    [[nodiscard]] sell_rows<T> all_rows() const { return {view_, places_}; }

    /// The window that begins with an entry, the last of several.
    [[nodiscard]] std::size_t window_at(std::int64_t entry) const {
        return static_cast<std::size_t>(std::ranges::upper_bound(first_entry_, entry) -
                                        first_entry_.begin()) -
               1;
    }
    /// Pieces are of whole windows of sorting, whose rows all lie in the same window.
    [[nodiscard]] piece next_piece(std::int64_t first) override {
        std::size_t end = window_at(first);
        if (end + 1 == first_entry_.size()) return {nullptr, 0};
        for (++end;
             end + 1 < first_entry_.size() && first_entry_[end + 1] - first <= staged_entries;)
            ++end;
        const std::int64_t count = first_entry_[end] - first;
        buffer<T>& staging = count <= kept_entries ? staging_ : large_staging_;
        if (static_cast<std::int64_t>(staging.size()) < count)
            staging = buffer<T>(device_, static_cast<std::size_t>(count), "matrix update");
        return {staging.data(), count};
    }
    void take_piece(std::int64_t first, const piece& brought) override {
        fill(static_cast<std::int64_t>(window_at(first)) * sort_window,
             std::min(static_cast<std::int64_t>(window_at(first + brought.size)) * sort_window,
                      places_),
             brought.to, first);
    }
    void end_update() override {
        large_staging_ = {};
        narrow_.find(view_, slices_.heads.data());
    }

    /// Keeps where the rows of the block begin in CSR, which updates need.
    void keep_offsets(const device_pattern& pattern, const std::string& item) {
        const block_lengths& lengths = pattern.lengths;
        const std::int64_t count = lengths.rows + 1;
        first_entry_ = sample_offsets(device_, pattern.offsets, lengths.rows, sort_window);
        if (lengths.nonzeros <= std::numeric_limits<std::int32_t>::max()) {
            narrow_offsets_ = buffer<std::int32_t>(device_, static_cast<std::size_t>(count), item);
            move_indices(*device_, pattern.offsets, count, 0, narrow_offsets_.data());
        } else {
            wide_offsets_ = buffer<std::int64_t>(device_, static_cast<std::size_t>(count), item);
            move_indices(*device_, pattern.offsets, count, 0, wide_offsets_.data());
        }
    }

    [[nodiscard]] boundary_order boundary_last(const place_groups& groups,
                                               const std::uint8_t* boundary) const {
        const auto waits = groups_on_boundary(device_, groups, boundary);
        return order_groups(
            groups.count, [&](std::int32_t g) { return waits[static_cast<std::size_t>(g)] != 0; });
    }

    void fill(std::int64_t first, std::int64_t last, const T* from, std::int64_t base) {
        const auto enqueue = [&](auto kernel, const auto* offsets) {
            const launch_scope launch(*device_);
            kernel<<<launch.blocks(kernel, block_threads, (last - first) / block_threads + 1),
                     block_threads, 0, launch.stream()>>>(view_, offsets, first, last, from, base,
                                                          values_.data());
            launch.check_launch();
        };
        if (wide_offsets_.size() != 0)
            enqueue(write_slices<T, std::int64_t>, wide_offsets_.data());
        else
            enqueue(write_slices<T, std::int32_t>, narrow_offsets_.data());
    }

    /// Whether most rows have one stencil, with a kernel that pays.
    [[nodiscard]] bool has_stencil() const {
        return narrow_.counts().shape != stencil_shape::none &&
               2 * narrow_.counts().in_units > view_.slices;
    }
    /// Whether products read values in narrow_values::form().
    [[nodiscard]] bool reads_form() const { return narrow_.form() != value_code::full; }

    std::shared_ptr<device> device_;
    device_sell slices_{};
    std::int64_t places_ = 0; ///< rows, filled up to whole slices
    std::int64_t bytes_ = 0;  ///< sell_view::bytes
    buffer<T> values_;
    narrow_values<T> narrow_;
    buffer<std::int32_t> order_;
    buffer<std::int32_t> narrow_offsets_;   ///< of the block's rows, from 0, where they fit
    buffer<std::int64_t> wide_offsets_;     ///< otherwise
    buffer<T> staging_;                     ///< of updates from the host
    buffer<T> large_staging_;               ///< the same, for the time of an update
    std::vector<std::int64_t> first_entry_; ///< the entry where each window begins, and the end
    sell_view<T> view_{};
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_sell(std::shared_ptr<device> device,
                                            const local_csr<T>& block) {
    return std::make_unique<sell_matrix<T>>(std::move(device), block);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<device_matrix<T>> make_sell(std::shared_ptr<device>,                  \
                                                         const local_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
