// The numeric phase of C = A B on a CUDA device.
#include <krylith/device/cuda/shared_memory.cuh>
#include <krylith/device/language/instances.hpp>
#include <krylith/sparse/spgemm/dense_block_phases.hpp>
#include <krylith/sparse/spgemm/lane_sums.cuh>
#include <krylith/sparse/spgemm/neighbour_sums.cuh>
#include <krylith/sparse/spgemm/searched_sums.cuh>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>
#include <krylith/sparse/spgemm/spgemm_plan.hpp>

#include <utility>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

template <class T>
class cuda_phases final : public detail::spgemm_phases<T> {
public:
    cuda_phases(const device_csr<T>& a, const device_csr<T>& b)
        : device_(a.on()), plan_(plan_spgemm(device_, a.pattern(), b.pattern(), limits_of_rows())) {
        this->nonzeros = plan_.nonzeros;
        this->products = plan_.products;
        this->bytes = plan_.bytes();
        this->peak_bytes = plan_.peak_bytes;
    }

    device_csr<T> multiply(const device_csr<T>& a, const device_csr<T>& b) override {
        const auto nonzeros = static_cast<std::size_t>(plan_.nonzeros);
        constexpr const char* item = "matrix";
        buffer<std::int64_t> offsets(device_, plan_.offsets.size(), item);
        buffer<std::int32_t> indices(device_, nonzeros, item);
        buffer<T> values(device_, nonzeros, item);
        device_->copy(offsets.data(), plan_.offsets.data(), offsets.size() * sizeof(std::int64_t));
        add_up(a.view(), b.view(), {offsets.data(), indices.data(), values.data()}, true);
        return {device_, b.columns(), std::move(offsets), std::move(indices), std::move(values)};
    }

    device_csr<T> take(const device_csr<T>& a, const device_csr<T>& b) override {
        device_csr<T> c = multiply(a, b);
        plan_.drop_columns();
        this->bytes = plan_.bytes();
        return c;
    }

    void refresh(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c) override {
        const device_csr_view<T> there = c.view();
        // Kernels write no columns: the pointer only serves the search for places.
        add_up(a.view(), b.view(),
               {there.offsets, const_cast<std::int32_t*>(there.indices), c.values()}, false);
    }

private:
    using view = device_csr_view<T>;

    void add_up(const view& a, const view& b, const numeric_results<T>& c, bool columns) {
        for (int k = 0; k <= static_cast<int>(sum_class::places_192); ++k)
            if (plan_.rows_of[k].count != 0)
                add_placed(a, b, c, columns, plan_.rows_of[k], room_of(static_cast<sum_class>(k)));
        if (const row_list rows = plan_.rows_of[static_cast<int>(sum_class::lane)]; rows.count != 0)
            columns ? launch_lanes<true>(a, b, c, rows) : launch_lanes<false>(a, b, c, rows);
        if (plan_.neighbours.count() != 0)
            columns ? launch_neighbours<true>(a, b, c) : launch_neighbours<false>(a, b, c);
        if (columns) write_columns(a, b, c);
        for (int i = 0; i < 2; ++i)
            add_searched(a, b, c, plan_.rows_of[static_cast<int>(sum_class::searched) + i],
                         plan_.searched[i]);
        for (const sorted_row& row : plan_.sorted)
            add_sorted(device_, a, b, row, c.indices, c.values);
    }

    void add_placed(const view& a, const view& b, const numeric_results<T>& c, bool columns,
                    const row_list& rows, int room) {
        // So many lanes a row, at least, that a block's rows fit into 48 KB.
        int lanes = plan_.width;
        while (lanes * 16 < room) lanes *= 2;
        const auto with = [&](auto number) {
            constexpr int n = decltype(number)::value;
            if (columns)
                launch_placed<n, true>(a, b, c, rows, room);
            else
                launch_placed<n, false>(a, b, c, rows, room);
        };
        if (lanes == 4) with(std::integral_constant<int, 4>{});
        if (lanes == 8) with(std::integral_constant<int, 8>{});
        if (lanes == 16) with(std::integral_constant<int, 16>{});
        if (lanes == 32) with(std::integral_constant<int, 32>{});
    }

    template <int Lanes, bool Columns>
    void launch_placed(const view& a, const view& b, const numeric_results<T>& c,
                       const row_list& rows, int room) {
        const launch_scope launch(*device_);
        const auto kernel = placed_sums<Lanes, Columns, T>;
        constexpr int rows_of_block = block_threads / Lanes;
        const std::size_t shared = placed_bytes<T>(Lanes, room, Columns);
        allow_shared(kernel, shared);
        kernel<<<launch.blocks(kernel, block_threads,
                               (rows.count + rows_of_block - 1) / rows_of_block, shared),
                 block_threads, shared, launch.stream()>>>(a, b, rows, room, plan_.places_at.data(),
                                                           plan_.places.data(), c);
        launch.check_launch();
    }

    template <bool Columns>
    void launch_lanes(const view& a, const view& b, const numeric_results<T>& c,
                      const row_list& rows) {
        const launch_scope launch(*device_);
        const auto kernel = lane_sums<Columns, T>;
        constexpr std::size_t shared = block_warps * sizeof(lane_memory<T>);
        allow_shared(kernel, shared);
        kernel<<<launch.blocks(kernel, block_threads,
                               (rows.count + block_threads - 1) / block_threads, shared),
                 block_threads, shared, launch.stream()>>>(a, b, rows, plan_.places_at.data(),
                                                           plan_.places.data(), c);
        launch.check_launch();
    }

    template <bool Columns>
    void launch_neighbours(const view& a, const view& b, const numeric_results<T>& c) {
        const launch_scope launch(*device_);
        const auto kernel = neighbour_sums<Columns, T>;
        constexpr std::size_t shared = block_warps * sizeof(neighbour_sums_memory<T>);
        allow_shared(kernel, shared);
        kernel<<<launch.blocks(kernel, block_threads,
                               (plan_.neighbours.count() + block_warps - 1) / block_warps, shared),
                 block_threads, shared, launch.stream()>>>(a, b, plan_.neighbours.rows,
                                                           plan_.neighbours.array(), c);
        launch.check_launch();
    }

    /// Writes the columns of rows without places.
    void write_columns(const view& av, const view& bv, const numeric_results<T>& c) {
        const csr_pattern a{av.rows, av.columns, av.nonzeros, av.offsets, av.indices};
        const csr_pattern b{bv.rows, bv.columns, bv.nonzeros, bv.offsets, bv.indices};
        write_searched_columns(device_, plan_, a, b, c.offsets, c.indices);
        if (plan_.giant_searched.empty() && plan_.sorted.empty()) return;
        giant_row_bits bits(device_, b.columns);
        for (const std::int32_t row : plan_.giant_searched)
            bits.write(a, b, row, c.offsets, c.indices);
        for (const sorted_row& row : plan_.sorted) bits.write(a, b, row.row, c.offsets, c.indices);
    }

    void add_searched(const view& a, const view& b, const numeric_results<T>& c,
                      const row_list& rows, const search_chunks& chunks) {
        if (rows.count == 0) return;
        plan_.next.zero();
        const launch_scope launch(*device_);
        const auto kernel = searched_sums<search_chunk, T>;
        constexpr std::size_t shared = block_warps * sizeof(searched_memory<T, search_chunk>);
        allow_shared(kernel, shared);
        kernel<<<launch.blocks(kernel, block_threads,
                               (chunks.count + block_warps - 1) / block_warps, shared),
                 block_threads, shared, launch.stream()>>>(
            a, b, chunk_list{rows, chunks.at.data(), chunks.count}, c.offsets, c.indices, c.values,
            plan_.next.data());
        launch.check_launch();
    }

    std::shared_ptr<device> device_;
    spgemm_plan plan_;
};

} // namespace

template <class T>
std::unique_ptr<detail::spgemm_phases<T>> make_spgemm(const device_csr<T>& a,
                                                      const device_csr<T>& b) {
    if (auto of_blocks = make_dense_block_phases(a, b)) return of_blocks;
    return std::make_unique<cuda_phases<T>>(a, b);
}

template <class T>
spgemm_estimate estimate_spgemm(const device_csr<T>& a, const device_csr<T>& b) {
    return estimate_products(a.on(), a.pattern(), b.pattern(), sizeof(T));
}

#define KRYLITH_INSTANTIATE(T) template struct instances<make_spgemm<T>, estimate_spgemm<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
