#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/csr/column_product.hpp>
#include <krylith/sparse/csr/column_rows_host.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>

namespace krylith::host {

namespace {

template <int K, class T>
void multiply(const column_product<T>& a, int threads) {
    const chunking chunks(a.rows);
    for_tiles(chunks, threads, tile_size<T>,
              [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                  for (std::int64_t row = begin; row < end; ++row) {
                      T sum[K];
                      multiply_row<K>(a.matrix, a.x, row, sum);
                      T* const y = a.y + row * K;
                      if (a.beta == T(0))
                          for (int j = 0; j < K; ++j) y[j] = a.alpha * sum[j];
                      else
                          for (int j = 0; j < K; ++j) y[j] = a.alpha * sum[j] + a.beta * y[j];
                  }
              });
}

} // namespace

template <class T>
void multiply_columns(device& device, const column_product<T>& product) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a = product, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        with_columns(a.columns, [&](auto k) { multiply<decltype(k)::value>(a, threads); });
    });
}

#define KRYLITH_INSTANTIATE(T) template void multiply_columns(device&, const column_product<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
