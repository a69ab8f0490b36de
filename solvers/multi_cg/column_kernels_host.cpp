#include <krylith/solvers/multi_cg/column_kernels.hpp>

#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>
#include <krylith/vector/scalar/host_context.hpp>

namespace krylith::host {

namespace {

/// Runs body(row, column sums) for all rows; sums of a chunk are added in the order of its rows.
template <class T, class Body>
void for_rows(const column_arguments<T>& a, int values, int threads, const Body& body) {
    const chunking chunks(a.rows);
    if (values > 0) std::fill_n(a.reduce.partials, values * chunks.count, 0.0);
    for_tiles(chunks, threads, tile_size<T>,
              [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
                  double sums[2 * max_columns] = {};
                  for (std::int64_t row = begin; row < end; ++row) body(row, sums);
                  for (int v = 0; v < values; ++v)
                      a.reduce.partials[v * chunks.count + chunk] += sums[v];
              });
    if (values > 0) publish(a.common, a.reduce, chunks.count);
}

/// sum[j] = row `row` of A times column j of x.
template <class T>
void row_product(const column_arguments<T>& a, const T* x, std::int64_t row, T* sum) {
    std::fill_n(sum, a.columns, T(0));
    for (std::int64_t at = a.offsets[row]; at < a.offsets[row + 1]; ++at) {
        const T value = a.values[at];
        const T* const entries = x + static_cast<std::int64_t>(a.indices[at]) * a.columns;
        for (int j = 0; j < a.columns; ++j) sum[j] += value * entries[j];
    }
}

template <class T>
[[nodiscard]] T preconditioned(const column_arguments<T>& a, std::int64_t row, T r) {
    return a.preconditioned ? a.inverse_diagonal[row] * r : r;
}

template <class T>
[[nodiscard]] int residual_sums(const column_arguments<T>& a) {
    return a.preconditioned ? 2 * a.columns : a.columns;
}

template <class T>
void add_residual(const column_arguments<T>& a, int j, T r, T z, double* sums) {
    sums[j] += static_cast<double>(r) * static_cast<double>(r);
    if (a.preconditioned) sums[a.columns + j] += static_cast<double>(r) * static_cast<double>(z);
}

/// Enqueues body(threads), which runs unless the loop has stopped.
template <class T, class Body>
void enqueue(device& device, const column_arguments<T>& a, const Body& body) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, body, threads = host.threads()] {
        registers reg;
        if (kernel_prologue(a.common, reg)) body(a, threads);
    });
}

} // namespace

template <class T>
void start_columns(device& device, const column_arguments<T>& a, column_start start) {
    enqueue(device, a, [start](const column_arguments<T>& c, int threads) {
        for_rows(c, residual_sums(c), threads, [&](std::int64_t row, double* sums) {
            T product[max_columns] = {};
            if (start == column_start::from_x) row_product(c, c.x, row, product);
            for (int j = 0; j < c.columns; ++j) {
                const std::int64_t at = row * c.columns + j;
                const T r = c.b[at] - product[j];
                const T z = preconditioned(c, row, r);
                c.r[at] = r;
                c.p[at] = z;
                add_residual(c, j, r, z, sums);
            }
        });
    });
}

template <class T>
void multiply_columns(device& device, const column_arguments<T>& a) {
    enqueue(device, a, [](const column_arguments<T>& c, int threads) {
        for_rows(c, c.columns, threads, [&](std::int64_t row, double* sums) {
            T product[max_columns];
            row_product(c, c.p, row, product);
            for (int j = 0; j < c.columns; ++j) {
                const std::int64_t at = row * c.columns + j;
                c.q[at] = product[j];
                sums[j] += static_cast<double>(c.p[at]) * static_cast<double>(product[j]);
            }
        });
    });
}

template <class T>
void subtract_columns(device& device, const column_arguments<T>& a) {
    enqueue(device, a, [](const column_arguments<T>& c, int threads) {
        const column_places at{c.columns};
        const double* const array = c.common.array;
        T alpha[max_columns] = {};
        for (int j = 0; j < c.columns; ++j)
            if (array[at.state() + j] == 0.0 && array[at.pq() + j] > 0.0)
                alpha[j] = static_cast<T>(array[at.rho() + j] / array[at.pq() + j]);
        for_rows(c, residual_sums(c), threads, [&](std::int64_t row, double* sums) {
            for (int j = 0; j < c.columns; ++j) {
                const std::int64_t i = row * c.columns + j;
                if (alpha[j] != T(0)) c.r[i] -= alpha[j] * c.q[i];
                add_residual(c, j, c.r[i], preconditioned(c, row, c.r[i]), sums);
            }
        });
    });
}

template <class T>
void test_columns(device& device, const column_arguments<T>& a) {
    enqueue(device, a, [](const column_arguments<T>& c, int) {
        const column_places at{c.columns};
        double running = 0;
        for (int j = 0; j < c.columns; ++j)
            if (advance_column(c.common.array, c.common.array + at.rr(), c.preconditioned,
                               c.columns, j))
                running += 1;
        c.reduce.partials[0] = running;
        publish(c.common, c.reduce, 1);
    });
}

template <class T>
void advance_columns(device& device, const column_arguments<T>& a) {
    enqueue(device, a, [](const column_arguments<T>& c, int threads) {
        const column_places at{c.columns};
        T alpha[max_columns];
        T beta[max_columns];
        for (int j = 0; j < c.columns; ++j) {
            alpha[j] = static_cast<T>(c.common.array[at.alpha() + j]);
            beta[j] = static_cast<T>(c.common.array[at.beta() + j]);
        }
        for_rows(c, 0, threads, [&](std::int64_t row, double*) {
            for (int j = 0; j < c.columns; ++j) {
                const std::int64_t i = row * c.columns + j;
                const T p = c.p[i];
                if (alpha[j] != T(0)) c.x[i] += alpha[j] * p;
                const T z = preconditioned(c, row, c.r[i]);
                c.p[i] = beta[j] != T(0) ? z + beta[j] * p : z;
            }
        });
    });
}

#define KRYLITH_COLUMN_KERNELS(T)                                                                  \
    template void start_columns(device&, const column_arguments<T>&, column_start);                \
    template void multiply_columns(device&, const column_arguments<T>&);                           \
    template void subtract_columns(device&, const column_arguments<T>&);                           \
    template void test_columns(device&, const column_arguments<T>&);                               \
    template void advance_columns(device&, const column_arguments<T>&)
KRYLITH_COLUMN_KERNELS(double);
KRYLITH_COLUMN_KERNELS(float);
#undef KRYLITH_COLUMN_KERNELS

} // namespace krylith::host
