// SELL-32 on CUDA: one thread for each row, with unit stride across the warp.
//
// A product moves (fp64) 8.25, 10.25 or 12 bytes a stored entry (sell_view.hpp says when), or 8
// less 0.25 in uniform slices, 8 a row of x and of y, 0.5 a row for the heads of slices, and 4 a
// row if sorted.

#include <krylith/device/cuda/cuda_device.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/epilogue/launch_rows.cuh>
#include <krylith/sparse/sell/sell_columns.hpp>
#include <krylith/sparse/sell/sell_layout.hpp>
#include <krylith/sparse/sell/sell_slices.cuh>
#include <krylith/sparse/sell/uniform_slices.cuh>
#include <krylith/sparse/storage/boundary_order.hpp>

namespace krylith::cuda {

namespace {

constexpr int group_slices = block_warps; ///< one warp for each slice

/// Blocks of a multiprocessor. With double they have 64 registers a thread; 5 blocks cost a CG
/// iteration on 256^3 26%, 6 54%, 8 116%: they spill. Loads of float bring half the bytes, so that
/// more threads are needed to keep the memory busy: with 48 registers, which two dot products don't
/// fit into, a product takes 209 us instead of 238, with 40 it spills and takes 339. A slice loaded
/// ahead costs registers, too: 307. The form `Split` spills with 4.
template <class T, int Dots, bool Split>
constexpr int blocks_per_sm = Split ? 3 : (sizeof(T) == 4 && Dots < 2 ? 5 : 4);

/// `Ahead` is for matrices with many values; the other form for those whose slices are mostly
/// uniform and diagonal.
template <class T, int Dots, bool Split, bool Ahead>
__global__ void __launch_bounds__(block_threads, (blocks_per_sm<T, Dots, Split>))
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
    if (!kernel_prologue(parameter, state, nullptr, [&] { slice.start(m, head, row, lane); }))
        return;
    row_epilogue<T, Dots, Split> results(state.context, a);
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

/// Copies values from CSR order to that of the slices, for places [first, last), one thread for
/// each place; `from` is where entry `base` of the block lies.
template <class T>
__global__ void __launch_bounds__(block_threads)
    fill_slices(const __grid_constant__ sell_view<T> m, const std::int64_t* offsets,
                std::int64_t first, std::int64_t last, const T* from, std::int64_t base, T* to) {
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t place = first + std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         place < last; place += stride) {
        const std::int32_t row = row_at(m, place);
        if (row < 0) continue;
        const slice_head head = load_head(m.heads + place / slice_rows);
        const auto lane = static_cast<int>(place % slice_rows);
        const bool gaps =
            head.code() == column_code::diagonal; // in other slices padding comes last
        const T* entry = from + (offsets[row] - base);
        const T* const end = from + (offsets[row + 1] - base);
        T* slot = to + std::int64_t{head.first} * slice_rows + lane;
        const slice_step* step = m.steps + head.first;
        for (; entry != end; slot += slice_rows, ++step)
            if (!gaps || (step->lanes >> lane & 1) != 0) *slot = *entry++;
    }
}

/// Computes the diagonal, one thread for each place of a slice. Duplicates add up, as they do in A
/// x.
template <class T>
__global__ void __launch_bounds__(block_threads)
    sell_diagonal(const __grid_constant__ sell_view<T> m, const __grid_constant__ row_map rows,
                  T* d) {
    const std::int64_t places = std::int64_t{m.slices} * slice_rows;
    const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
    for (std::int64_t place = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; place < places;
         place += stride) {
        const slice_reader<T> from = read_slice(m, static_cast<std::int32_t>(place / slice_rows),
                                                static_cast<int>(place % slice_rows));
        if (from.row < 0) continue;
        const std::int64_t to = rows.at(from.row);
        if (to >= rows.rows) continue;
        T sum = 0;
        for (std::int32_t k = 0; k < from.length; ++k)
            if (from.column(k) == to) sum += from.value(k);
        d[to] = sum;
    }
}

template <class T>
class sell_matrix final : public device_matrix<T> {
public:
    sell_matrix(std::shared_ptr<device> device, const local_csr<T>& block)
        : device_(std::move(device)),
          layout_(make_sell_layout(block.offsets)),
          offsets_(block.offsets.begin(), block.offsets.end()) {
        const std::string item = "matrix";
        for (auto& offset : offsets_) offset -= block.offsets.front();
        const sell_columns columns = make_sell_columns(layout_, block.offsets, block.indices);
        bytes_ = sell_bytes(layout_, columns.heads, sizeof(T));
        heads_ = buffer<slice_head>(device_, std::span<const slice_head>(columns.heads), item);
        steps_ = buffer<slice_step>(device_, std::span<const slice_step>(columns.steps), item);
        columns_ = buffer<std::byte>(device_, std::span<const std::byte>(columns.stored), item);
        values_ = buffer<T>(device_, static_cast<std::size_t>(layout_.entries()), item);
        values_.zero(); // padding is 0
        uniform_ = buffer<uniform_entry<T>>(
            device_, static_cast<std::size_t>(layout_.entries() / slice_rows), item);
        uniform_tables_ = buffer<uniform_tables>(device_, 1, item);
        csr_offsets_ = buffer<std::int64_t>(device_, std::span<const std::int64_t>(offsets_), item);
        rows_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(layout_.rows), item);

        const auto groups =
            static_cast<std::int32_t>((layout_.slices() + group_slices - 1) / group_slices);
        constexpr std::int64_t group_rows = std::int64_t{group_slices} * slice_rows;
        const auto on_boundary = [&](std::int32_t g) {
            const std::int64_t end = std::min((g + 1) * group_rows, layout_.slices() * slice_rows);
            for (std::int64_t place = g * group_rows; place < end; ++place) {
                const std::int64_t row = layout_.row_at(place);
                if (row >= 0 && block.on_boundary(row, row + 1)) return true;
            }
            return false;
        };
        const std::int64_t alone = std::min(block.alone, block.rows);
        const boundary_order order =
            block.boundary.empty()
                ? spread_groups(groups,
                                static_cast<std::int32_t>((alone + group_rows - 1) / group_rows))
                : order_groups(groups, on_boundary);
        order_ = buffer<std::int32_t>(device_, std::span<const std::int32_t>(order.groups), item);
        view_ = {heads_.data(),  steps_.data(),     columns_.data(),
                 values_.data(), uniform_.data(),   rows_.data(),
                 order_.data(),  layout_.row_count, static_cast<std::int32_t>(layout_.slices()),
                 groups,         order.interior,    bytes_};
        if (block.device_values == nullptr)
            update(block.values);
        else
            update_on_device(block.device_values);
    }

    void apply(const spmv_arguments<T>& a) override {
        // A recording keeps the kernel, whatever values come later: both take all.
        if (2 * counts_.diagonal_columns > layout_.entries() / slice_rows)
            launch_rows(*device_, a, view_.groups, view_, [](auto dots, auto split) {
                return sell_kernel<T, dots(), split(), split()>;
            });
        else
            launch_rows(*device_, a, view_.groups, view_, [](auto dots, auto split) {
                return sell_kernel<T, dots(), split(), true>;
            });
    }

    /// Uploads in batches of whole windows of sorting, whose rows all lie in the same window.
    void update(std::span<const T> values) override {
        const std::int64_t places = layout_.slices() * slice_rows;
        for (std::int64_t first = 0; first < places;) {
            std::int64_t last = std::min(first + sort_window, places);
            while (last < places && entry(last + sort_window) - entry(first) <= staged_entries)
                last = std::min(last + sort_window, places);
            const std::int64_t base = entry(first);
            const auto count = static_cast<std::size_t>(entry(last) - base);
            if (count != 0) {
                if (staging_.size() < count) staging_ = buffer<T>(device_, count, "matrix update");
                device_->upload(staging_.data(), values.data() + base, count * sizeof(T));
                fill(first, last, staging_.data(), base);
            }
            first = last;
        }
        mark_uniform();
    }

    void update_on_device(const T* values) override {
        fill(0, layout_.slices() * slice_rows, values, 0);
        mark_uniform();
    }

    void diagonal(T* d, const row_map& rows) const override {
        const launch_scope launch(*device_);
        const auto kernel = sell_diagonal<T>;
        kernel<<<launch.blocks(kernel, block_threads, view_.groups), block_threads, 0,
                 launch.stream()>>>(view_, rows, d);
        launch.check_launch();
    }

    [[nodiscard]] std::string name() const override { return "sell"; }
    [[nodiscard]] std::int64_t matrix_bytes() const override {
        constexpr auto value = static_cast<std::int64_t>(sizeof(T));
        constexpr auto entry = static_cast<std::int64_t>(sizeof(uniform_entry<T>));
        constexpr auto step = static_cast<std::int64_t>(sizeof(slice_step));
        return bytes_ - counts_.uniform_columns * (slice_rows * value - entry) -
               counts_.diagonal_columns * step - counts_.shared_columns * entry;
    }
    [[nodiscard]] double uniform_fraction() const override {
        const std::int64_t columns = layout_.entries() / slice_rows;
        return columns == 0
                   ? 0
                   : static_cast<double>(counts_.uniform_columns) / static_cast<double>(columns);
    }
    [[nodiscard]] const sell_view<T>* slices() const override { return &view_; }

private:
    /// The largest number of values that wait on the device to be sorted into slices (one window
    /// may have more).
    static constexpr std::int64_t staged_entries = std::int64_t{1} << 20;

    /// The first entry of the block in the rows from `place` on, where a window begins.
    [[nodiscard]] std::int64_t entry(std::int64_t place) const {
        return offsets_[static_cast<std::size_t>(std::min(place, layout_.row_count))];
    }

    void fill(std::int64_t first, std::int64_t last, const T* from, std::int64_t base) {
        const launch_scope launch(*device_);
        const auto kernel = fill_slices<T>;
        kernel<<<launch.blocks(kernel, block_threads, (last - first) / block_threads + 1),
                 block_threads, 0, launch.stream()>>>(view_, csr_offsets_.data(), first, last, from,
                                                      base, values_.data());
        launch.check_launch();
    }

    /// Says which slices are uniform, with the values that they have.
    void mark_uniform() {
        uniform_tables_.zero();
        counts_ = {};
        if (view_.slices == 0) return;
        const launch_scope launch(*device_);
        const auto kernel = mark_uniform_slices<T>;
        kernel<<<launch.blocks(kernel, block_threads, view_.groups), block_threads, 0,
                 launch.stream()>>>(view_, heads_.data(), uniform_.data(), uniform_tables_.data());
        const auto share = share_uniform_slices<T>;
        share<<<launch.blocks(share, block_threads, view_.groups), block_threads, 0,
                launch.stream()>>>(view_, heads_.data(), uniform_tables_.data());
        launch.check_launch();
        device_->download(&counts_, uniform_tables_.data(), sizeof counts_);
    }

    std::shared_ptr<device> device_;
    sell_layout layout_;
    std::vector<std::int64_t> offsets_; ///< of the block's rows, from 0
    std::int64_t bytes_ = 0;            ///< sell_view::bytes
    buffer<slice_head> heads_;
    buffer<slice_step> steps_;
    buffer<std::byte> columns_;
    buffer<T> values_;
    buffer<uniform_entry<T>> uniform_;
    buffer<uniform_tables> uniform_tables_; ///< [1]
    uniform_counts counts_{};
    buffer<std::int32_t> rows_;
    buffer<std::int32_t> order_;
    buffer<std::int64_t> csr_offsets_; ///< offsets_ on the device
    buffer<T> staging_;                ///< of updates from the host
    sell_view<T> view_{};
};

} // namespace

template <class T>
std::unique_ptr<device_matrix<T>> make_sell(std::shared_ptr<device> device,
                                            const local_csr<T>& block) {
    return std::make_unique<sell_matrix<T>>(std::move(device), block);
}

template std::unique_ptr<device_matrix<double>> make_sell(std::shared_ptr<device>,
                                                          const local_csr<double>&);
template std::unique_ptr<device_matrix<float>> make_sell(std::shared_ptr<device>,
                                                         const local_csr<float>&);

} // namespace krylith::cuda
