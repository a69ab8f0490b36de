// Passes of joint loops on host devices (solvers/joint/column_pass.hpp declares them). Included by
// the files that instantiate them.
#pragma once

#include <algorithm>

#include <krylith/device/host/host_device.hpp>
#include <krylith/solvers/joint/column_pass.hpp>
#include <krylith/sparse/csr/column_rows_host.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/kernels/host_chunks.hpp>

namespace krylith::host {

namespace detail {

/// Runs the pass on one row; sums of column j go to sums[set * k + j].
template <class Pass, int K, class T, class Coefficients>
void pass_row(const column_operands<T>& a, const Coefficients* c, const column_factors<T>* factors,
              std::int64_t row, double* sums) {
    T product[K] = {};
    if constexpr (Pass::product != no_product)
        multiply_row<K>(a.matrix, a.by_columns(Pass::product), row, product);
    const T d = inverse_diagonal<Pass>(a, row);
    // What a pass reads and writes is known to the compiler, which must see it vector by vector.
#pragma GCC unroll 1
    for (int j = 0; j < K; ++j) {
        const std::int64_t at = row * K + j;
        T e[max_column_vectors];
#pragma GCC unroll 16
        for (int v = 0; v < max_column_vectors; ++v)
            if ((Pass::reads >> v & 1) != 0) e[v] = a.vectors[v][at];
        double own[Pass::sums + 1] = {};
        Pass::apply(c[j], factors[j].inverse * d, factors[j].product * product[j], e, own);
#pragma GCC unroll 16
        for (int v = 0; v < max_column_vectors; ++v)
            if ((Pass::writes >> v & 1) != 0) a.vectors[v][at] = e[v];
#pragma GCC unroll 16
        for (int s = 0; s < Pass::sums; ++s) sums[s * K + j] += own[s];
    }
}

/// Enqueues body(arguments, threads), which runs unless the loop has stopped.
template <class T, class Body>
void enqueue(device& device, const column_arguments<T>& a, const Body& body) {
    auto& host = static_cast<host_device&>(device);
    host.submit([a, body, threads = host.threads()] {
        registers reg;
        if (kernel_prologue(a.common, reg)) body(a, threads);
    });
}

} // namespace detail

template <class Pass, class T>
void run_pass(device& device, const column_arguments<T>& arguments) {
    detail::enqueue(device, arguments, [](const column_arguments<T>& a, int threads) {
        const column_places at{a.columns};
        const double* const array = a.common.array;
        typename Pass::template coefficients<T> c[max_columns];
        column_factors<T> factors[max_columns];
        for (int j = 0; j < a.columns; ++j) {
            c[j] = Pass::template prepare<T>(array, array + Pass::awaits(at), at, j);
            factors[j] = factors_of<Pass, T>(array, at, j);
        }
        const int values = Pass::sums * a.columns;
        const chunking chunks(a.rows);
        if (values > 0) std::fill_n(a.reduce.partials, values * chunks.count, 0.0);
        // Sums of a chunk are added in the order of its rows.
        with_columns(a.columns, [&](auto k) {
            constexpr int columns = decltype(k)::value;
            for_tiles(chunks, threads, tile_size<T>,
                      [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
                          double sums[2 * columns] = {};
                          for (std::int64_t row = begin; row < end; ++row)
                              detail::pass_row<Pass, columns>(a, c, factors, row, sums);
                          for (int v = 0; v < values; ++v)
                              a.reduce.partials[v * chunks.count + chunk] += sums[v];
                      });
        });
        if (values > 0) publish(a.common, a.reduce, chunks.count);
    });
}

template <class Method, class T>
void run_test(device& device, const column_arguments<T>& arguments) {
    detail::enqueue(device, arguments, [](const column_arguments<T>& a, int) {
        const column_places at{a.columns};
        double running = 0;
        for (int j = 0; j < a.columns; ++j)
            if (Method::test(a.common.array, a.common.array + at.rr(), at, j)) running += 1;
        a.reduce.partials[0] = running;
        publish(a.common, a.reduce, 1);
    });
}

} // namespace krylith::host
