#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/gallery/random_pairing.hpp>
#include <krylith/tests/matrix/support/dense.hpp>

namespace {

/// Every diagonal entry is 1 + the sum of the row's other magnitudes, up to rounding.
template <class T>
double distance_from_dominance(const krylith::csr_matrix<T>& matrix) {
    double worst = 0;
    for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
        double excess = -1;
        for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            const auto value = static_cast<double>(matrix.values[place]);
            const bool centre = matrix.column_indices[place] == static_cast<std::int32_t>(row);
            excess += centre ? value : -std::abs(value);
        }
        worst = std::max(worst, std::abs(excess));
    }
    return worst;
}

} // namespace

TEST_CASE("a pairing is its own inverse, and leaves over one of an odd number") {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 16, 17, 1000, 1001}) {
        CAPTURE(n);
        const krylith::random_pairing pairing(n, 11);
        std::int64_t alone = 0;
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t partner = pairing.partner(i);
            wrong += partner < 0 || partner >= n || pairing.partner(partner) != i;
            alone += partner == i;
        }
        CHECK(wrong == 0);
        CHECK(alone == n % 2);
    }
}

TEST_CASE("random_spd is symmetric, diagonally dominant and of the stated density") {
    const auto matrix = krylith::random_spd<double>(2000, 8, 42);
    validate(matrix);
    CHECK(canonical(matrix));
    CHECK(matrix.rows == 2000);
    CHECK(krylith::test::symmetric(matrix));
    CHECK(distance_from_dominance(matrix) < 1e-13);
    CHECK(matrix.nnz() <= 2000 * 8);
    CHECK(matrix.nnz() > 2000 * 8 * 99 / 100); // few pairings coincide

    const auto single = krylith::random_spd<float>(1001, 20, 42);
    CHECK(krylith::test::symmetric(single));
    CHECK(distance_from_dominance(single) < 1e-4);
}

TEST_CASE("random_spd depends on its seed, and small ones are what they must be") {
    CHECK(krylith::random_spd<double>(100, 5, 1) == krylith::random_spd<double>(100, 5, 1));
    CHECK_FALSE(krylith::random_spd<double>(100, 5, 1) == krylith::random_spd<double>(100, 5, 2));
    using krylith::test::dense;
    CHECK(krylith::test::to_dense(krylith::random_spd<double>(1, 9, 1)) == dense{{1}});
    CHECK(krylith::test::to_dense(krylith::random_spd<double>(3, 1, 1)) ==
          dense{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
    CHECK(krylith::random_spd<double>(2, 5, 1).nnz() == 4);
}

TEST_CASE("the places of random_spd spread over the matrix") {
    // The columns of n rows with m others each, in 10 bins: each near a tenth.
    const auto matrix = krylith::random_spd<double>(10000, 9, 3);
    std::vector<int> bins(10);
    std::int64_t near = 0;
    for (std::size_t row = 0; row < 10000; ++row) {
        for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const std::int32_t column = matrix.column_indices[static_cast<std::size_t>(k)];
            ++bins[static_cast<std::size_t>(column / 1000)];
            near += std::abs(column - static_cast<std::int32_t>(row)) < 500;
        }
    }
    for (const int count : bins) {
        CHECK(count == doctest::Approx(9000).epsilon(0.05));
    }
    // 1000 of 10000 columns are near a row: a tenth of the 80000 places, and the diagonal.
    CHECK(static_cast<double>(near) == doctest::Approx(10000 + 8000).epsilon(0.05));
}
