// The CSR product of one host device against a dense oracle.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/sparse/csr/csr_rows_host.hpp>
#include <krylith/sparse/csr/giant_rows_host.hpp>
#include <krylith/sparse/device_matrix.hpp>
#include <krylith/tests/vector/host_ranks.hpp>

#include <krylith/tests/sparse/csr/csr_host_blocks.hpp>

namespace krylith::csr_host_tests {

namespace {

template <class T>
double tolerance(const block_data<T>& b) {
    std::int64_t longest = 0;
    for (std::size_t i = 1; i < b.offsets.size(); ++i)
        longest = std::max(longest, b.offsets[i] - b.offsets[i - 1]);
    return std::max(200.0, static_cast<double>(longest) / 3) *
           static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Checks y = alpha A x + beta y and both dot products, all on `threads` threads.
template <class T>
void check(const block_data<T>& b, int threads) {
    host_ranks ranks(1, threads);
    const auto csr = host::make_csr<T>(handle(ranks, 0), b.view());
    const auto x = random_vector<T>(b.columns, 1);
    const auto w = random_vector<T>(b.rows(), 2);
    const auto product = dense_product(b, x);
    for (const double alpha : {1.0, -0.5})
        for (const double beta : {0.0, 1.0, 0.25}) {
            CAPTURE(alpha);
            CAPTURE(beta);
            auto y = random_vector<T>(b.rows(), 3);
            if (beta == 0.0) std::fill(y.begin(), y.end(), std::numeric_limits<T>::quiet_NaN());
            const auto before = y;
            spmv_arguments<T> a{};
            a.common = ranks.make_context(0);
            a.x = x.data();
            a.y = y.data();
            a.alpha = static_cast<T>(alpha);
            a.beta = static_cast<T>(beta);
            a.dot_with[0] = w.data();
            a.reduce = ranks.into(0, 2);
            csr->apply(a);
            const auto found = sums(ranks, 0, 2);
            int wrong = 0;
            double wy = 0;
            double yy = 0;
            for (std::size_t i = 0; i < y.size(); ++i) {
                double expected = alpha * product[i];
                if (beta != 0.0) expected += beta * static_cast<double>(before[i]);
                if (!(std::abs(static_cast<double>(y[i]) - expected) <= tolerance(b))) ++wrong;
                wy += static_cast<double>(w[i]) * static_cast<double>(y[i]);
                yy += static_cast<double>(y[i]) * static_cast<double>(y[i]);
            }
            CHECK(wrong == 0);
            CHECK(found[0] == doctest::Approx(wy).epsilon(1e-9));
            CHECK(found[1] == doctest::Approx(yy).epsilon(1e-12));
        }
}

} // namespace

TEST_CASE_TEMPLATE("host csr: stencil lengths, long, short and empty rows", T, double, float) {
    for (const int threads : {1, 2}) {
        CAPTURE(threads);
        check(random_block<T>(50, 40, [](std::int64_t i) { return i; }), threads);
        check(random_block<T>(300, 200, [](std::int64_t) { return 5; }), threads);
        check(random_block<T>(300, 200, [](std::int64_t) { return 7; }), threads);
        check(random_block<T>(200, 300, [](std::int64_t) { return 27; }), threads);
        check(random_block<T>(101, 20, [](std::int64_t i) { return i % 3 == 0 ? 2 : 0; }), threads);
        check(random_block<T>(77, 9, [](std::int64_t) { return 0; }), threads);
        check(random_block<T>(3000, 600, [](std::int64_t i) { return i == 1500 ? 600 : i % 13; }),
              threads);
    }
}

TEST_CASE_TEMPLATE("host csr: blocks without rows, of one row, and from the middle", T, double,
                   float) {
    check(random_block<T>(0, 10, [](std::int64_t) { return 1; }), 1);
    check(random_block<T>(0, 0, [](std::int64_t) { return 1; }), 1);
    check(random_block<T>(1, 1, [](std::int64_t) { return 1; }), 1);
    check(random_block<T>(
              100, 50, [](std::int64_t i) { return i % 9; }, 123'456'789'012),
          2);
}

TEST_CASE("host csr: boundary rows anywhere") {
    auto b = random_block<double>(2000, 300, [](std::int64_t i) { return i % 20; });
    for (const int every : {1, 2, 3, 700}) {
        CAPTURE(every);
        b.boundary.assign(2000, 0);
        for (std::size_t i = 0; i < 2000; ++i) b.boundary[i] = i % unsigned(every) == 0;
        check(b, 2);
    }
}

namespace {

/// Rows 0, 70, 71 and the last are too long for one thread, 40 just isn't.
block_data<double> with_giant_rows() {
    return random_block<double>(
        101, 80'000,
        [](std::int64_t i) {
            if (i == 0 || i == 70 || i == 71 || i == 100)
                return host::most_row_entries + 1 + 700 * i;
            return i == 40 ? host::most_row_entries : i % 9;
        },
        12'345);
}

void check_teams(const block_data<double>& b) {
    const auto rows = static_cast<std::size_t>(b.rows());
    const auto x = random_vector<double>(b.columns, 1);
    std::vector<double> first_y;
    std::vector<double> first_sums;
    for (const int threads : {1, 2, 3, 7}) {
        host_ranks ranks(1, threads);
        const auto csr = host::make_csr<double>(handle(ranks, 0), b.view());
        std::vector<double> y(rows);
        spmv_arguments<double> a{};
        a.common = ranks.make_context(0);
        a.x = x.data();
        a.y = y.data();
        a.alpha = 1.5;
        a.reduce = ranks.into(0, 1);
        csr->apply(a);
        const auto found = sums(ranks, 0, 1);
        if (threads == 1) {
            first_y = y;
            first_sums = found;
        }
        CHECK(y == first_y);
        CHECK(found == first_sums);
    }
}

} // namespace

TEST_CASE("host csr: the same bits with any team") {
    check_teams(random_block<double>(5000, 800, [](std::int64_t i) { return i % 31; }));
    check_teams(with_giant_rows());
}

TEST_CASE("host csr: rows that are too long for one thread") {
    auto b = with_giant_rows();
    for (const int threads : {1, 3}) check(b, threads);
    b.boundary.assign(101, 0);
    b.boundary[70] = b.boundary[5] = 1;
    check(b, 2);
    b.boundary.assign(101, 1);
    check(b, 2);
}

TEST_CASE("host csr: new values on the same pattern, size and name") {
    auto b = random_block<double>(400, 100, [](std::int64_t i) { return i % 8; });
    host_ranks ranks(1);
    const auto csr = host::make_csr<double>(handle(ranks, 0), b.view());
    CHECK(csr->name() == "csr");
    CHECK(csr->recordable());
    CHECK(csr->matrix_bytes() ==
          static_cast<std::int64_t>(b.values.size()) * 12 + 4 * (b.rows() + 1));
    for (auto& v : b.values) v *= -3;
    csr->update(b.values);
    const auto x = random_vector<double>(b.columns, 1);
    const auto expected = dense_product(b, x);
    std::vector<double> y(400);
    spmv_arguments<double> a{};
    a.common = ranks.make_context(0);
    a.x = x.data();
    a.y = y.data();
    a.alpha = 1;
    csr->apply(a);
    ranks.synchronize();
    for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-12));
    CHECK_THROWS_AS(csr->update(std::vector<double>(3)), usage_error);
}

TEST_CASE("host csr: sizes that disagree are refused") {
    host_ranks ranks(1);
    const auto good = random_block<double>(10, 10, [](std::int64_t) { return 3; });
    auto bad = good;
    SUBCASE("offsets") {
        bad.offsets.back() += 1;
    }
    SUBCASE("values") {
        bad.values.pop_back();
    }
    SUBCASE("boundary") {
        bad.boundary.assign(9, 0);
    }
    CHECK_THROWS_AS((void)host::make_csr<double>(handle(ranks, 0), bad.view()), usage_error);
}

TEST_CASE("host csr: a product after the stop leaves y alone") {
    host_ranks ranks(1);
    const auto b = random_block<double>(10, 10, [](std::int64_t) { return 3; });
    const auto csr = host::make_csr<double>(handle(ranks, 0), b.view());
    const auto x = random_vector<double>(10, 1);
    std::vector<double> y(10, 5.0);
    ranks.slot(0, control::state) = as_register(loop_state::converged);
    spmv_arguments<double> a{};
    a.common = ranks.make_context(0);
    a.x = x.data();
    a.y = y.data();
    a.alpha = 1;
    a.reduce = ranks.into(0, 1);
    csr->apply(a);
    ranks.synchronize();
    CHECK(y == std::vector<double>(10, 5.0));
    CHECK(ranks.published(0) == 0);
}

TEST_CASE("host csr: 64-bit offsets") {
    const auto b = random_block<double>(60, 90, [](std::int64_t i) { return i % 30; });
    const auto x = random_vector<double>(b.columns, 1);
    const auto expected = dense_product(b, x);
    std::vector<double> y(60);
    host::multiply_rows<double, std::int64_t>({b.offsets.data(), b.indices.data(), b.values.data()},
                                              x.data(), y.data(), 1.0, 0.0, 0, 60);
    for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == doctest::Approx(expected[i]).epsilon(1e-12));
}

namespace {

/// Rows at once, as multiply_rows() takes them where processors gather, and one by one.
template <class T>
void check_bits_of_rows(const std::function<std::int64_t(std::int64_t)>& lengths) {
    const auto b = random_block<T>(300, 500, lengths);
    const auto x = random_vector<T>(b.columns, 1);
    const host::csr_arrays<T, std::int64_t> a{b.offsets.data(), b.indices.data(), b.values.data()};
    for (const auto& [begin, end] : {std::pair{0, 300}, {3, 67}, {5, 68}, {100, 299}})
        for (const T beta : {T{0}, T(0.25)}) {
            std::vector<T> y(300, T(2));
            std::vector<T> expected = y;
            host::multiply_rows(a, x.data(), y.data(), T(-0.5), beta, begin, end);
            for (int i = begin; i < end; ++i)
                host::multiply_rows(a, x.data(), expected.data() + (i - begin), T(-0.5), beta, i,
                                    i + 1);
            CHECK(y == expected);
        }
}

} // namespace

TEST_CASE("host csr: rows at once have the bits of rows one by one") {
    const std::function<std::int64_t(std::int64_t)> all_lengths[] = {
        [](std::int64_t i) { return i * 7 % 9; },                // short
        [](std::int64_t i) { return i * 7 % 33; },               // as long as rows at once may be
        [](std::int64_t i) { return i % 64 == 9 ? 70 : i % 5; }, // one is longer
        [](std::int64_t i) { return i % 3 == 0 ? 8 : 16; },      // blocks of 8 entries, and no more
        [](std::int64_t i) { return i < 150 ? 7 : 0; }, // most of one length, and empty ones
    };
    for (const auto& lengths : all_lengths) {
        check_bits_of_rows<double>(lengths);
        check_bits_of_rows<float>(lengths);
    }
}

} // namespace krylith::csr_host_tests
