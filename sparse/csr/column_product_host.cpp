#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/device/host/host_team.hpp>
#include <krylith/sparse/csr/column_product.hpp>
#include <krylith/sparse/csr/column_rows_host.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/scalar/host_context.hpp>

namespace krylith::host {

namespace {

/// K neighbours in memory, which are added and multiplied as one. (Of a plain array in the loop
/// over the entries of a row gcc makes gathers of several entries, six times as slow.)
template <class T, int K>
struct neighbours {
    using type __attribute__((vector_size(K * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
};

template <int K, class T>
void multiply_columns_of(const compressed_rows<T>& a, const T* x, std::int64_t begin,
                         std::int64_t end, T* to) {
    using columns = typename neighbours<T, K>::type;
    for (std::int64_t row = begin; row < end; ++row, to += K) {
        columns sums{};
        const std::int64_t behind = a.begin(row + 1);
        for (std::int64_t at = a.begin(row); at < behind; ++at) {
            const T* const entries = x + static_cast<std::int64_t>(a.columns[at]) * K;
            sums += a.values[at] * *reinterpret_cast<const columns*>(entries);
        }
        *reinterpret_cast<columns*>(to) = sums;
    }
}

} // namespace

template <class T>
void multiply_rows(const compressed_rows<T>& a, int columns, const T* x, std::int64_t begin,
                   std::int64_t end, T* to) {
    with_columns(columns,
                 [&](auto k) { multiply_columns_of<decltype(k)::value>(a, x, begin, end, to); });
}

template <class T>
void multiply_columns(device& device, const column_product<T>& product) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a = product, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(a.common, reg)) return;
        for_tiles(chunking(a.rows), threads, tile_size<T>,
                  [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                      T sums[product_values];
                      const std::int64_t rows_at_once = product_values / a.columns;
                      for (std::int64_t first = begin; first < end; first += rows_at_once) {
                          const std::int64_t last = std::min(end, first + rows_at_once);
                          multiply_rows(a.matrix, a.columns, a.x, first, last, sums);
                          T* const y = a.y + first * a.columns;
                          const std::int64_t entries = (last - first) * a.columns;
                          if (a.beta == T(0))
                              for (std::int64_t i = 0; i < entries; ++i) y[i] = a.alpha * sums[i];
                          else
                              for (std::int64_t i = 0; i < entries; ++i)
                                  y[i] = a.alpha * sums[i] + a.beta * y[i];
                      }
                  });
    });
}

template void multiply_rows(const compressed_rows<double>&, int, const double*, std::int64_t,
                            std::int64_t, double*);
template void multiply_rows(const compressed_rows<float>&, int, const float*, std::int64_t,
                            std::int64_t, float*);
template void multiply_columns(device&, const column_product<double>&);
template void multiply_columns(device&, const column_product<float>&);

} // namespace krylith::host
