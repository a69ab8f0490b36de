#include <krylith/sparse/spgemm/dense_block_phases.hpp>

#include <algorithm>
#include <utility>

#include <krylith/device/cuda/shared_memory.cuh>
#include <krylith/sparse/spgemm/byte_peak.hpp>
#include <krylith/sparse/spgemm/dense_block_sums.cuh>
#include <krylith/sparse/spgemm/dense_blocks.hpp>
#include <krylith/sparse/spgemm/spgemm_plan.hpp>

#include <krylith/device/cuda/cuda_device.cuh>

namespace krylith::cuda {

namespace {

/// The shared memory of a block of threads.
template <class T>
std::size_t shared_bytes(const block_sizes& sizes, int chunk) {
    return block_warps * block_memory<T>::bytes(sizes, chunk);
}

template <class T>
class dense_block_phases final : public detail::spgemm_phases<T> {
public:
    dense_block_phases(const device_csr<T>& a, const device_csr<T>& b, const block_sizes& sizes)
        : device_(a.on()),
          sizes_(sizes),
          chunk_(block_chunk<T>(sizes)),
          a_(blocks_of(device_, a.pattern(), sizes.rows, sizes.inner, false)),
          b_(blocks_of(device_, b.pattern(), sizes.inner, sizes.columns, true)),
          plan_(plan_spgemm(device_, a_.view(), b_.view(), limits())) {
        this->nonzeros = plan_.nonzeros * sizes.rows * sizes.columns;
        this->products = plan_.products * sizes.rows * sizes.inner * sizes.columns;
        this->bytes = bytes_of_all();
        this->peak_bytes = plan_.peak_bytes + a_.bytes() + b_.bytes();
    }

    [[nodiscard]] bool has_giants() const noexcept {
        return rows_of(sum_class::giant_searched).count != 0 ||
               rows_of(sum_class::giant_sorted).count != 0;
    }

    device_csr<T> multiply(const device_csr<T>& a, const device_csr<T>& b) override {
        const auto nonzeros = static_cast<std::size_t>(this->nonzeros);
        constexpr const char* item = "matrix";
        buffer<std::int64_t> offsets(device_, static_cast<std::size_t>(a.rows() + 1), item);
        buffer<std::int32_t> indices(device_, nonzeros, item);
        buffer<T> values(device_, nonzeros, item);
        if (nonzeros == 0) offsets.zero();
        {
            const buffer<std::int32_t> blocks(device_, static_cast<std::size_t>(plan_.nonzeros),
                                              product_item);
            write_searched_columns(device_, plan_, a_.view(), b_.view(), plan_.offsets.data(),
                                   blocks.data());
            expand_blocks(
                *device_,
                {a_.rows, b_.columns, plan_.nonzeros, plan_.offsets.data(), blocks.data()},
                sizes_.rows, sizes_.columns, offsets.data(), indices.data());
        }
        add_up(a, b, indices.data(), values.data());
        return {device_, b.columns(), std::move(offsets), std::move(indices), std::move(values)};
    }

    device_csr<T> take(const device_csr<T>& a, const device_csr<T>& b) override {
        device_csr<T> c = multiply(a, b);
        plan_.drop_columns();
        this->bytes = bytes_of_all();
        return c;
    }

    void refresh(const device_csr<T>& a, const device_csr<T>& b, device_csr<T>& c) override {
        add_up(a, b, c.view().indices, c.values());
    }

private:
    [[nodiscard]] const row_list& rows_of(sum_class which) const noexcept {
        return plan_.rows_of[static_cast<std::size_t>(which)];
    }

    [[nodiscard]] std::int64_t bytes_of_all() const noexcept {
        return plan_.bytes() + a_.bytes() + b_.bytes();
    }

    [[nodiscard]] row_limits limits() const {
        row_limits limits = limits_of_rows();
        limits.places = false;
        limits.chunk = chunk_;
        return limits;
    }

    void add_up(const device_csr<T>& a, const device_csr<T>& b, const std::int32_t* indices,
                T* values) {
        if (rows_of(sum_class::searched).count == 0) return;
        const auto is = [&](int rows, int inner) {
            return sizes_.rows == rows && sizes_.inner == inner;
        };
        // Displacements in two and three dimensions, and rigid body modes of these.
        if (is(3, 3)) return launch(dense_block_sums<3, 3, T>, a, b, indices, values);
        if (is(6, 3)) return launch(dense_block_sums<6, 3, T>, a, b, indices, values);
        if (is(6, 6)) return launch(dense_block_sums<6, 6, T>, a, b, indices, values);
        if (is(2, 2)) return launch(dense_block_sums<2, 2, T>, a, b, indices, values);
        if (is(3, 2)) return launch(dense_block_sums<3, 2, T>, a, b, indices, values);
        launch(dense_block_sums<0, 0, T>, a, b, indices, values);
    }

    template <class Kernel>
    void launch(Kernel kernel, const device_csr<T>& a, const device_csr<T>& b,
                const std::int32_t* indices, T* values) {
        plan_.next.zero();
        const launch_scope launch(*device_);
        const search_chunks& chunks = plan_.searched[0];
        const std::size_t shared = shared_bytes<T>(sizes_, chunk_);
        allow_shared(kernel, shared);
        kernel<<<launch.blocks(kernel, block_threads,
                               (chunks.count + block_warps - 1) / block_warps, shared),
                 block_threads, shared, launch.stream()>>>(
            block_factor<T>{a_.view(), a.view().values},
            block_factor<T>{b_.view(), b.view().values}, sizes_,
            chunk_list{rows_of(sum_class::searched), chunks.at.data(), chunks.count}, chunk_,
            plan_.offsets.data(), indices, values, plan_.next.data());
        launch.check_launch();
    }

    std::shared_ptr<device> device_;
    block_sizes sizes_;
    int chunk_; ///< blocks of C that a warp adds up
    block_pattern a_;
    block_pattern b_;
    spgemm_plan plan_;
};

} // namespace

template <class T>
std::unique_ptr<detail::spgemm_phases<T>> make_dense_block_phases(const device_csr<T>& a,
                                                                  const device_csr<T>& b) {
    const block_sizes sizes = find_dense_blocks(a.on(), a.pattern(), b.pattern());
    // What every GPU from compute capability 8.0 on has. Larger blocks have little to gain.
    constexpr std::size_t most_shared = 96 << 10;
    if (!sizes.dense() || shared_bytes<T>(sizes, block_chunk<T>(sizes)) > most_shared)
        return nullptr;
    auto phases = std::make_unique<dense_block_phases<T>>(a, b, sizes);
    return phases->has_giants() ? nullptr : std::move(phases);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template std::unique_ptr<detail::spgemm_phases<T>> make_dense_block_phases(                    \
        const device_csr<T>&, const device_csr<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
