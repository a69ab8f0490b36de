// Graphs of the gallery have the shape for which they are there.
#include <krylith/matrix/gallery.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/tests/matrix/support/dense.hpp>
#include <krylith/tests/matrix/support/facts.hpp>

namespace {

using krylith::csr_matrix;
using krylith::test::columns_of;
using krylith::test::length_of;

double mean(const csr_matrix<double>& a) {
    return static_cast<double>(a.nnz()) / static_cast<double>(a.rows);
}

/// The row lengths, descending.
std::vector<std::int64_t> row_lengths(const csr_matrix<double>& a) {
    std::vector<std::int64_t> result;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        result.push_back(length_of(a, row));
    }
    std::ranges::sort(result, std::greater<>());
    return result;
}

std::vector<std::int64_t> column_lengths(const csr_matrix<double>& a) {
    std::vector<std::int64_t> result(static_cast<std::size_t>(a.columns), 0);
    for (const std::int32_t column : a.column_indices) {
        ++result[static_cast<std::size_t>(column)];
    }
    std::ranges::sort(result, std::greater<>());
    return result;
}

bool has_loops(const csr_matrix<double>& a) {
    for (std::int64_t row = 0; row < a.rows; ++row) {
        if (std::ranges::count(columns_of(a, row), static_cast<std::int32_t>(row)) > 0) {
            return true;
        }
    }
    return false;
}

bool weights_in_unit_interval(const csr_matrix<double>& a) {
    return std::ranges::all_of(a.values, [](double v) { return v > 0 && v <= 1; });
}

/// Steps from row 0 to each row; -1: not reached.
std::vector<int> distances(const csr_matrix<double>& a) {
    std::vector<int> result(static_cast<std::size_t>(a.rows), -1);
    std::vector<std::int64_t> front{0};
    result[0] = 0;
    for (int steps = 1; !front.empty(); ++steps) {
        std::vector<std::int64_t> next;
        for (const std::int64_t row : front) {
            for (const std::int32_t column : columns_of(a, row)) {
                if (result[static_cast<std::size_t>(column)] < 0) {
                    result[static_cast<std::size_t>(column)] = steps;
                    next.push_back(column);
                }
            }
        }
        front = next;
    }
    return result;
}

/// The fraction of entries within `band` of the diagonal.
double share_near(const csr_matrix<double>& a, std::int64_t band) {
    std::int64_t near = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (const std::int32_t column : columns_of(a, row)) {
            near += std::abs(column - row) <= band;
        }
    }
    return static_cast<double>(near) / static_cast<double>(a.nnz());
}

} // namespace

TEST_CASE("undirected graphs have weights in (0, 1], no loops, and are symmetric") {
    for (const char* spec : {"delaunay:40", "kmer:3000", "kron:9", "rgg:10", "road:20"}) {
        CAPTURE(spec);
        const auto a = krylith::make_gallery<double>(spec);
        CHECK(krylith::test::symmetric(a));
        CHECK_FALSE(has_loops(a));
        CHECK(weights_in_unit_interval(a));
    }
    const auto directed = krylith::rmat<double>(9);
    CHECK_FALSE(has_loops(directed));
    CHECK(weights_in_unit_interval(directed));
    CHECK_FALSE(krylith::test::symmetric(directed));
}

TEST_CASE("delaunay: Euler's count of edges, degrees around 6, both diagonals") {
    for (const auto& [nx, ny] : {std::pair{1, 1}, std::pair{1, 7}, std::pair{40, 30}}) {
        const auto a = krylith::delaunay<double>(nx, ny);
        CHECK(a.nnz() == 2 * (3 * nx * ny - 2 * (nx + ny) + 1));
    }
    const auto a = krylith::delaunay<double>(40, 30);
    const auto lengths = row_lengths(a);
    CHECK(lengths.front() <= 8);
    CHECK(lengths.front() >= 7);
    CHECK(lengths.back() >= 2);
    std::int64_t rising = 0;
    for (std::int64_t row = 0; row + 41 < a.rows; ++row) {
        rising += std::ranges::count(columns_of(a, row), static_cast<std::int32_t>(row + 41));
    }
    CHECK(rising > 39 * 29 * 2 / 5); // about half the quadrangles
    CHECK(rising < 39 * 29 * 3 / 5);
}

TEST_CASE("rgg: the expected number of neighbours, few far away") {
    const int k = 14;
    const auto a = krylith::rgg<double>(k);
    CHECK(a.rows == 1 << k);
    const double n = a.rows;
    // The value is less at the border of the square.
    const double inner = std::acos(-1.0) * 0.55 * 0.55 * std::log(n);
    CHECK(mean(a) < inner);
    CHECK(mean(a) > 0.93 * inner);
    // Cells lie in rows: neighbours are at most two rows of cells away.
    CHECK(share_near(a, static_cast<std::int64_t>(4 * std::sqrt(n * std::log(n)))) == 1);
    for (const int small : {1, 2, 3}) {
        CHECK(krylith::rgg<double>(small).rows == 1 << small);
    }
}

TEST_CASE("rgg finds all pairs within the radius, and no others: counted by brute force") {
    // The number of edges must be that of a plain double loop over the points, whatever the cells.
    const int n = 512;
    const double radius = std::floor(0.55 * std::sqrt(std::log(512.0) / n) * 0x1p32);
    std::int64_t pairs = 0;
    const auto point = [](int i) {
        return krylith::counter_hash(7, static_cast<std::uint64_t>(i));
    };
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            const double dx = static_cast<double>(point(i) & 0xffffffff) -
                              static_cast<double>(point(j) & 0xffffffff);
            const double dy =
                static_cast<double>(point(i) >> 32) - static_cast<double>(point(j) >> 32);
            pairs += i != j && std::hypot(dx, dy) < radius;
        }
    }
    CHECK(krylith::rgg<double>(9, 7).nnz() == pairs);
}

TEST_CASE("kron and rmat: sizes and a heavy tail") {
    const auto a = krylith::kron<double>(13);
    CHECK(a.rows == 8192);
    CHECK(a.nnz() <= 2 * 16 * 8192);
    CHECK(a.nnz() > 16 * 8192); // duplicates are the minority
    const auto lengths = row_lengths(a);
    CHECK(lengths.front() > 20 * static_cast<std::int64_t>(mean(a)));
    CHECK(lengths.back() == 0); // as in Graph500, some vertices are alone
    const auto b = krylith::rmat<double>(13, 8);
    CHECK(b.nnz() <= 8 * 8192);
    CHECK(b.nnz() > 4 * 8192);
    CHECK(row_lengths(b).front() > 100);
    CHECK(column_lengths(b).front() > 100);
    // The lower half of the rows gets A + B = 76 percent of the edges before they are scattered.
    const auto rows = row_lengths(b);
    const auto half = std::accumulate(rows.begin(), rows.begin() + 4096, std::int64_t{0});
    CHECK(static_cast<double>(half) > 0.76 * static_cast<double>(b.nnz()));
}

TEST_CASE("kmer: mean about 2, at most 40, scattered") {
    const auto a = krylith::kmer<double>(100000);
    CHECK(mean(a) == doctest::Approx(2.14).epsilon(0.03));
    const auto lengths = row_lengths(a);
    CHECK(lengths.front() <= 40);
    CHECK(lengths.front() >= 30);
    CHECK(std::ranges::count_if(lengths, [](std::int64_t l) { return l > 4; }) < 100000 / 50);
    CHECK(share_near(a, 1000) < 0.1);
    CHECK(krylith::kmer<double>(2).rows == 2);
}

TEST_CASE("road: connected, long, degrees of roads") {
    const int n = 60;
    const auto a = krylith::road<double>(n);
    CHECK(static_cast<double>(a.rows) == doctest::Approx(3.1 * n * n).epsilon(0.05));
    CHECK(mean(a) == doctest::Approx(2.26).epsilon(0.02));
    CHECK(row_lengths(a).front() <= 4);
    CHECK(row_lengths(a).back() == 1); // dead ends
    const auto steps = distances(a);
    CHECK(std::ranges::min(steps) == 0); // all are reached
    CHECK(std::ranges::max(steps) > 2 * n);
    // The graph is planar, so by Euler it has fewer than 3 n - 6 edges; trees have n - 1.
    CHECK(a.nnz() / 2 > a.rows - 1);
}

TEST_CASE("web: power laws both ways, hosts along the diagonal, rows sum to 1") {
    const std::int64_t n = 60000;
    const auto a = krylith::web<double>(n);
    CHECK_FALSE(krylith::test::symmetric(krylith::web<double>(500)));
    CHECK(mean(a) > 11);
    CHECK(mean(a) < 17);
    const auto rows = row_lengths(a);
    CHECK(rows.front() > 40 * 14);
    CHECK(rows.front() <= 8192);
    CHECK(rows[30000] < 12); // the median is below the mean
    const auto columns = column_lengths(a);
    CHECK(columns.front() > 1000);
    CHECK(share_near(a, 4096) > 0.75);
    CHECK(share_near(a, 4096) < 0.95);
    double worst = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(n); ++row) {
        const double sum = std::accumulate(a.values.begin() + a.row_offsets[row],
                                           a.values.begin() + a.row_offsets[row + 1], 0.0);
        worst = std::max(worst, std::abs(sum - 1));
    }
    CHECK(worst < 1e-12);
    CHECK_FALSE(has_loops(a));
    CHECK(mean(krylith::web<double>(n, 4)) < 5);
    for (const std::int64_t tiny : {2, 33, 4097}) {
        validate(krylith::web<double>(tiny));
        CHECK(canonical(krylith::web<double>(tiny)));
    }
}

TEST_CASE("fullchip: three long rows and columns, mean 9, strictly dominant") {
    const std::int64_t n = 30000;
    const auto a = krylith::fullchip<double>(n);
    CHECK(krylith::test::symmetric(krylith::fullchip<double>(400)));
    CHECK(mean(a) == doctest::Approx(9.2).epsilon(0.02));
    const auto lengths = row_lengths(a);
    CHECK(static_cast<double>(lengths[0]) == doctest::Approx(0.75 * n).epsilon(0.02));
    CHECK(static_cast<double>(lengths[1]) == doctest::Approx(0.25 * n).epsilon(0.04));
    CHECK(static_cast<double>(lengths[2]) == doctest::Approx(0.10 * n).epsilon(0.06));
    CHECK(lengths[3] <= 10);
    CHECK(krylith::test::eigenvalues(krylith::fullchip<double>(200))[0] > 0);
    CHECK(krylith::test::symmetric(krylith::fullchip<double>(16)));
}

TEST_CASE("random: exactly so many entries a row, spread evenly, full rows too") {
    const auto a = krylith::random_uniform<double>(10000, 9, 1);
    CHECK(a.nnz() == 90000);
    CHECK(row_lengths(a).front() == 9);
    CHECK(row_lengths(a).back() == 9);
    CHECK(canonical(a));
    CHECK(share_near(a, 1000) == doctest::Approx(0.19).epsilon(0.03)); // 2 * 0.1 - 0.1^2
    CHECK(std::abs(std::accumulate(a.values.begin(), a.values.end(), 0.0)) <
          3 * std::sqrt(90000 / 3.));
    CHECK(std::ranges::max(a.values) < 1);
    CHECK(std::ranges::min(a.values) >= -1);
    CHECK(krylith::random_uniform<double>(50, 50, 1).nnz() == 2500);
    CHECK(krylith::random_uniform<double>(1, 1, 1).nnz() == 1);
}
