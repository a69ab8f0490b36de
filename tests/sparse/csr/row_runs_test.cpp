// Runs of rows that are one stencil: which there are, that products have the same bits, and that
// values which may change at any time are read one by one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/sparse/csr/row_runs.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/tests/vector/host_ranks.hpp>

#include <krylith/tests/sparse/csr/csr_host_blocks.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::csr_host_tests {

namespace {

template <class T>
host::csr_arrays<T, std::int64_t> arrays_of(const csr_matrix<T>& a) {
    return {a.row_offsets.data(), a.column_indices.data(), a.values.data()};
}

/// Rows of `length` entries, all alike but where values differ by `period`.
template <class T>
csr_matrix<T> alike_rows(std::int64_t rows, int length, std::int64_t period) {
    csr_matrix<T> a{rows, rows + 3 * length, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        for (int k = 0; k < length; ++k) {
            a.column_indices.push_back(static_cast<std::int32_t>(i + 3 * k));
            a.values.push_back(static_cast<T>(0.37 + 0.11 * k + (i % period == 0 ? 1.0 : 0.0)));
        }
        a.row_offsets.push_back(a.nnz());
    }
    return a;
}

/// y = alpha A x + beta y by a block of one device.
template <class T>
std::vector<T> block_product(host_ranks& ranks, device_matrix<T>& block, std::int64_t columns,
                             std::int64_t rows, T alpha, T beta) {
    const auto x = random_vector<T>(columns, 5);
    auto y = random_vector<T>(rows, 6);
    spmv_arguments<T> a{};
    a.common = ranks.make_context(0);
    a.x = x.data();
    a.y = y.data();
    a.alpha = alpha;
    a.beta = beta;
    block.apply(a);
    handle(ranks, 0)->synchronize();
    return y;
}

/// The block of values that may change at any time.
template <class T>
std::unique_ptr<device_matrix<T>> borrowing(host_ranks& ranks, const csr_matrix<T>& m) {
    local_csr<T> view{m.rows, m.columns, m.row_offsets, m.column_indices, {}, {}};
    view.device_values = m.values.data();
    view.borrow = true;
    return host::make_csr<T>(handle(ranks, 0), view);
}

/// The product of a block without runs, by the same code.
template <class T>
std::vector<T> row_by_row(const csr_matrix<T>& m, T alpha, T beta) {
    host_ranks ranks(1, 1);
    return block_product(ranks, *borrowing(ranks, m), m.columns, m.rows, alpha, beta);
}

template <class T>
void check_run_products(const csr_matrix<T>& m, bool in_runs) {
    CHECK(host::find_row_runs(arrays_of(m), m.rows, 3).empty() != in_runs);
    for (const int threads : {1, 3}) {
        host_ranks ranks(1, threads);
        local_csr<T> view{m.rows, m.columns, m.row_offsets, m.column_indices, m.values, {}};
        const auto block = host::make_csr<T>(handle(ranks, 0), view);
        for (const double beta : {0.0, 0.25})
            CHECK(block_product(ranks, *block, m.columns, m.rows, T(-0.5), static_cast<T>(beta)) ==
                  row_by_row(m, T(-0.5), static_cast<T>(beta)));
    }
}

} // namespace

TEST_CASE("row runs: those of a grid, whatever the number of threads") {
    const auto m = make_gallery<double>("poisson3d:32");
    const auto runs = host::find_row_runs(arrays_of(m), m.rows, 1);
    // Each line has a first and a last point with fewer neighbours.
    CHECK(runs.size() == 3 * 32 * 32 + 1);
    CHECK(runs.front() == 0);
    CHECK(runs.back() == m.rows);
    for (const int threads : {2, 3, 7})
        CHECK(host::find_row_runs(arrays_of(m), m.rows, threads) == runs);
}

TEST_CASE("row runs: products have the bits of products row by row") {
    for (const char* const name : {"poisson2d:150", "poisson3d:28", "poisson3d_27point:28"}) {
        CAPTURE(name);
        const auto m = make_gallery<double>(name);
        check_run_products(m, true);
        check_run_products(testing::converted<float>(m), true);
    }
    for (const int length : {1, 2, 3, 4, 6, 8, 9, 15, 30}) {
        CAPTURE(length);
        check_run_products(alike_rows<double>(20000, length, 1000), true);
        check_run_products(alike_rows<float>(20000, length, 11), true);
        check_run_products(alike_rows<float>(20000, length, 3), false); // runs of 1 and 2
    }
    check_run_products(make_gallery<double>("poisson2d:150:random=1"), false);
    check_run_products(make_gallery<double>("poisson2d:20"), false); // few rows
}

TEST_CASE("row runs: new values end and begin them") {
    const auto m = make_gallery<double>("poisson2d:150");
    auto other = m;
    other.values = random_vector<double>(m.nnz(), 9);
    host_ranks ranks(1, 2);
    const auto block = host::make_csr<double>(
        handle(ranks, 0), {m.rows, m.columns, m.row_offsets, m.column_indices, m.values, {}});
    block->update(other.values);
    CHECK(block_product(ranks, *block, m.columns, m.rows, 1.0, 0.0) == row_by_row(other, 1.0, 0.0));
    block->update(m.values);
    CHECK(block_product(ranks, *block, m.columns, m.rows, 1.0, 0.0) == row_by_row(m, 1.0, 0.0));
}

TEST_CASE("row runs: borrowed values may change at any time") {
    auto m = make_gallery<double>("poisson2d:150");
    host_ranks ranks(1, 2);
    const auto block = borrowing(ranks, m);
    std::ranges::copy(random_vector<double>(m.nnz(), 10), m.values.begin());
    const auto own = host::make_csr<double>(
        handle(ranks, 0), {m.rows, m.columns, m.row_offsets, m.column_indices, m.values, {}});
    CHECK(block_product(ranks, *block, m.columns, m.rows, 1.0, 0.0) ==
          block_product(ranks, *own, m.columns, m.rows, 1.0, 0.0));
}

} // namespace krylith::csr_host_tests
