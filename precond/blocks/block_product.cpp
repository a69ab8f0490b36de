#include <krylith/precond/blocks/block_product.hpp>

#include <algorithm>
#include <stdexcept>

#include <krylith/config.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/epilogue/row_epilogue_host.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>

namespace krylith::detail {

namespace {

template <class T>
T times_row(const borrowed_blocks<T>& a, const T* x, std::int64_t row) {
    const block_place place = a.blocks.places[row];
    const std::int64_t first = row - place.at;
    T sum = 0;
    if (a.columns.are_own(first, first + place.size)) {
        const T* const own = x + a.columns.first + first;
        for (int j = 0; j < place.size; ++j) sum += a.blocks.at(row, j) * own[j];
    } else {
        for (int j = 0; j < place.size; ++j)
            sum += a.blocks.at(row, j) * x[a.columns.of_row(first + j)];
    }
    return sum;
}

template <class T>
void product(const borrowed_blocks<T>& blocks, const spmv_arguments<T>& a, int threads) {
    host::registers reg;
    if (!host::kernel_prologue(a.common, reg)) return;
    const host::chunking all(blocks.blocks.rows);
    const host::row_epilogue<T> results(a, all.count);
    if (!results.before_writing()) return;
    const auto multiply = [&](T* y, T alpha, T beta, std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const T sum = alpha * times_row(blocks, a.x, row);
            y[row - begin] = sum + (beta != T(0) ? beta * y[row - begin] : T(0));
        }
    };
    in_team(static_cast<int>(std::clamp<std::int64_t>(all.count / 4, 1, threads)), [&](int thread,
                                                                                       int team) {
        if (!results.before_reading(true)) return;
        for (std::int64_t chunk = all.count * thread / team;
             chunk < all.count * (thread + 1) / team; ++chunk) {
            host::row_part<T> part = results.part(chunk);
            const std::int64_t end = std::min(all.size, (chunk + 1) * all.length);
            for (std::int64_t row = chunk * all.length; row < end; row += host::row_part<T>::tile)
                part.rows(row, std::min(end, row + host::row_part<T>::tile), multiply);
            part.leave();
        }
    });
    results.leave();
}

template <class T>
class block_product_on_host final : public block_product<T> {
public:
    using block_product<T>::block_product;
    void apply(const spmv_arguments<T>& a) override {
        auto& host = static_cast<host_device&>(*this->device_);
        host.submit(
            [blocks = this->a_, a, threads = host.threads()] { product(blocks, a, threads); });
    }
};

} // namespace

template <class T>
void block_product<T>::refuse() {
    throw std::logic_error("block-jacobi: the operator of its blocks only multiplies");
}

template <class T>
std::unique_ptr<device_matrix<T>> make_block_product(std::shared_ptr<device> device,
                                                     const borrowed_blocks<T>& a) {
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda) return cuda::make_block_product(std::move(device), a);
#endif
    return std::make_unique<block_product_on_host<T>>(std::move(device), a);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class block_product<T>;                                                               \
    template std::unique_ptr<device_matrix<T>> make_block_product(std::shared_ptr<device>,         \
                                                                  const borrowed_blocks<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
