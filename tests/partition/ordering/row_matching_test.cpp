// Matchings of rows against all permutations of small matrices.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/partition/ordering/row_matching.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::to_eigen;

namespace {

csr_matrix<double> sparse_matrix(int n, int seed) {
    testing::random_numbers random(static_cast<std::uint64_t>(seed));
    testing::triplets entries;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (random.below(n) < 3)
                entries.push_back({i, j, std::ldexp(random.real(), random.below(60) - 30)});
    return testing::from_triplets(n, entries);
}

struct best_permutation {
    int matched = 0;
    double log_product = 0;
};

/// Most entries on the diagonal, and of those the largest product.
best_permutation search(const Eigen::MatrixXd& a) {
    const auto n = static_cast<int>(a.rows());
    std::vector<int> row_at(static_cast<std::size_t>(n));
    std::iota(row_at.begin(), row_at.end(), 0);
    best_permutation best;
    do {
        best_permutation one;
        for (int j = 0; j < n; ++j) {
            const double entry = a(row_at[static_cast<std::size_t>(j)], j);
            if (entry == 0) continue;
            ++one.matched;
            one.log_product += std::log2(std::fabs(entry));
        }
        if (one.matched > best.matched ||
            (one.matched == best.matched && one.log_product > best.log_product))
            best = one;
    } while (std::next_permutation(row_at.begin(), row_at.end()));
    return best;
}

} // namespace

TEST_CASE(
    "row matching: the largest product of all permutations, and scalings that bound entries") {
    int singular = 0;
    for (int n = 1; n <= 6; ++n)
        for (int seed = 0; seed < 40; ++seed) {
            CAPTURE(n);
            CAPTURE(seed);
            const csr_matrix<double> a = sparse_matrix(n, seed);
            const Eigen::MatrixXd dense = to_eigen(a);
            const row_matching found = match_rows(csr_view<double>(a));
            std::vector<std::int32_t> rows = found.row_at;
            std::sort(rows.begin(), rows.end());
            for (int i = 0; i < n; ++i)
                REQUIRE(rows[static_cast<std::size_t>(i)] == i); // a permutation
            const best_permutation best = search(dense);
            CHECK(found.matched == best.matched);
            if (best.matched < n) {
                ++singular;
                continue;
            }
            double log_product = 0;
            for (int j = 0; j < n; ++j)
                log_product +=
                    std::log2(std::fabs(dense(found.row_at[static_cast<std::size_t>(j)], j)));
            CHECK(log_product == doctest::Approx(best.log_product).epsilon(1e-10));
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j) {
                    const double scaled = std::fabs(std::ldexp(
                        dense(i, j), found.row_exponent[static_cast<std::size_t>(i)] +
                                         found.column_exponent[static_cast<std::size_t>(j)]));
                    CHECK(scaled <= 4);
                    if (found.row_at[static_cast<std::size_t>(j)] == i) CHECK(scaled >= 0.25);
                }
        }
    CHECK(singular > 10); // such matrices were among them
    CHECK(singular < 200);
}

TEST_CASE(
    "row matching: entries that are 0 or not finite don't count, and no rows are no trouble") {
    const csr_matrix<double> a = testing::from_triplets(
        3, {{0, 0, 0.0}, {0, 1, 2.0}, {1, 0, 3.0}, {1, 1, INFINITY}, {2, 2, 1.0}, {2, 0, NAN}});
    const row_matching found = match_rows(csr_view<double>(a));
    CHECK(found.row_at == std::vector<std::int32_t>{1, 0, 2});
    CHECK(found.matched == 3);
    CHECK(found.moves());
    CHECK(match_rows(csr_view<double>(testing::from_triplets(0, {}))).row_at.empty());
    CHECK_FALSE(rows_as_they_are(5).moves());
}

TEST_CASE("row matching: a shifted diagonal of many rows comes back") {
    const csr_matrix<double> a = testing::shift_matrix(5000, 17);
    const row_matching found = match_rows(csr_view<double>(a));
    CHECK(found.matched == 5000);
    for (std::size_t i = 0; i < 5000; ++i)
        CHECK(a.column_indices[static_cast<std::size_t>(
                  a.row_offsets[static_cast<std::size_t>(found.row_at[i])])] ==
              static_cast<std::int32_t>(i));
}

} // namespace krylith
