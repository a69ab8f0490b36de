// Statistics of matrices against plain loops over the dense matrix, and by hand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/matrix/gallery.hpp>
#include <krylith/matrix/statistics.hpp>
#include <krylith/tests/support/matrices.hpp>

namespace krylith {

using testing::battery;
using testing::battery_entry;
using testing::from_dense;
using testing::random_matrix;
using testing::triplets;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A dense table of values and of whether they are stored.
struct table {
    explicit table(const csr_matrix<double>& a)
        : rows(static_cast<std::size_t>(a.rows)), columns(static_cast<std::size_t>(a.columns)) {
        value.assign(rows * columns, 0);
        stored.assign(rows * columns, 0);
        for (std::size_t i = 0; i < rows; ++i)
            for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const auto at = i * columns + static_cast<std::size_t>(
                                                  a.column_indices[static_cast<std::size_t>(k)]);
                value[at] += a.values[static_cast<std::size_t>(k)];
                stored[at] = 1;
            }
    }
    [[nodiscard]] double at(std::size_t i, std::size_t j) const { return value[i * columns + j]; }
    [[nodiscard]] bool has(std::size_t i, std::size_t j) const { return stored[i * columns + j]; }

    std::size_t rows;
    std::size_t columns;
    std::vector<double> value;
    std::vector<char> stored;
};

void check_lengths(const table& t, const matrix_statistics& s) {
    std::vector<double> lengths;
    for (std::size_t i = 0; i < t.rows; ++i) {
        double length = 0;
        for (std::size_t j = 0; j < t.columns; ++j) length += t.has(i, j);
        lengths.push_back(length);
    }
    double sum = 0;
    for (const double length : lengths) sum += length;
    CHECK(static_cast<double>(s.nnz()) == sum);
    CHECK(s.lengths.empty == std::count(lengths.begin(), lengths.end(), 0.0));
    if (t.rows == 0) return;
    const auto n = static_cast<double>(t.rows);
    CHECK(static_cast<double>(s.lengths.least) == *std::ranges::min_element(lengths));
    CHECK(static_cast<double>(s.lengths.most) == *std::ranges::max_element(lengths));
    CHECK(s.lengths.mean == doctest::Approx(sum / n));
    double squares = 0;
    double pairs = 0; // Gini's own definition: mean absolute difference over twice the mean
    for (const double a : lengths) {
        squares += (a - sum / n) * (a - sum / n);
        for (const double b : lengths) pairs += std::fabs(a - b);
    }
    CHECK(s.lengths.deviation == doctest::Approx(std::sqrt(squares / n)));
    CHECK(s.lengths.gini == doctest::Approx(sum == 0 ? 0 : pairs / (2 * n * sum)));
}

void check_survey(const table& t, const matrix_statistics& s) {
    bandwidths width;
    value_statistics v{.smallest = infinity};
    std::int64_t missing = 0, zeros = 0, positive = 0, negative = 0, weak = 0, strict = 0;
    for (std::size_t i = 0; i < t.rows; ++i) {
        double others = 0;
        double sum = 0;
        bool any = false;
        for (std::size_t j = 0; j < t.columns; ++j) {
            if (!t.has(i, j)) continue;
            any = true;
            const auto ahead = static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i);
            width.lower = std::max(width.lower, -ahead);
            width.upper = std::max(width.upper, ahead);
            const double size = std::fabs(t.at(i, j));
            if (size == 0)
                ++v.zeros;
            else
                v.smallest = std::min(v.smallest, size);
            v.largest = std::max(v.largest, size);
            if (i != j) others += size;
            sum += t.at(i, j);
        }
        if (any && std::fabs(sum) < 1e-13) ++v.zero_row_sums;
        if (i >= t.columns) continue;
        const double d = t.at(i, i);
        if (!t.has(i, i))
            ++missing;
        else if (d == 0)
            ++zeros;
        if (d > 0) ++positive;
        if (d < 0) ++negative;
        weak += std::fabs(d) - others >= -1e-13;
        strict += std::fabs(d) - others > 1e-13;
    }
    CHECK(s.bandwidth.lower == width.lower);
    CHECK(s.bandwidth.upper == width.upper);
    CHECK(s.values.zeros == v.zeros);
    CHECK(s.values.largest == v.largest);
    if (v.largest > 0) CHECK(s.values.smallest == v.smallest);
    CHECK(s.values.not_finite == 0);
    CHECK(s.values.zero_row_sums == v.zero_row_sums);
    CHECK(s.diagonal.length == static_cast<std::int64_t>(std::min(t.rows, t.columns)));
    CHECK(s.diagonal.missing == missing);
    CHECK(s.diagonal.zeros == zeros);
    CHECK(s.diagonal.positive == positive);
    CHECK(s.diagonal.negative == negative);
    CHECK(s.diagonal.weakly_dominant == weak);
    CHECK(s.diagonal.strictly_dominant == strict);
    std::int64_t empty_columns = 0;
    for (std::size_t j = 0; j < t.columns; ++j) {
        bool any = false;
        for (std::size_t i = 0; i < t.rows; ++i) any = any || t.has(i, j);
        empty_columns += !any;
    }
    CHECK(s.empty_columns == empty_columns);
}

void check_symmetry(const table& t, const matrix_statistics& s) {
    CHECK(s.symmetry.has_value() == (t.rows == t.columns));
    if (!s.symmetry) return;
    std::int64_t places = 0, values = 0, negated = 0, off = 0;
    double difference = 0;
    for (std::size_t i = 0; i < t.rows; ++i)
        for (std::size_t j = 0; j < t.columns; ++j) {
            if (i == j || !t.has(i, j)) continue;
            ++off;
            places += t.has(j, i);
            values += t.at(i, j) == t.at(j, i);
            negated += t.at(i, j) == -t.at(j, i);
            difference = std::max(difference, std::fabs(t.at(i, j) - t.at(j, i)));
        }
    CHECK(s.symmetry->off_diagonal == off);
    CHECK(s.symmetry->matched_places == places);
    CHECK(s.symmetry->matched_values == values);
    CHECK(s.symmetry->negated_values == negated);
    CHECK(s.symmetry->largest_difference == difference);
    CHECK(s.symmetry->first_difference.has_value() == (values != off));
}

void check_statistics(const csr_matrix<double>& a) {
    const table t(a);
    const matrix_statistics s = describe(a);
    check_lengths(t, s);
    check_survey(t, s);
    check_symmetry(t, s);
}

csr_matrix<double> rectangular(std::int64_t rows, std::int64_t columns, const triplets& entries) {
    coo_matrix<double> coo{rows, columns};
    for (const auto& [i, j, v] : entries) {
        coo.row_indices.push_back(static_cast<std::int32_t>(i));
        coo.column_indices.push_back(static_cast<std::int32_t>(j));
        coo.values.push_back(v);
    }
    return to_csr(coo);
}

} // namespace

TEST_CASE("statistics agree with plain loops on every matrix of the battery") {
    for (const battery_entry& entry : battery()) {
        if (entry.matrix.rows > 3000) continue; // the loops are dense
        CAPTURE(entry.name);
        check_statistics(entry.matrix);
    }
    for (const std::uint64_t seed : {1, 2, 3}) check_statistics(random_matrix(60, 4, 1, seed));
    check_statistics(random_spd<double>(200, 9, 3));
    check_statistics(convection_diffusion<double>(5, 20));
}

TEST_CASE("statistics of rectangular matrices: no mirror, a short diagonal") {
    check_statistics(rectangular(0, 5, {}));
    check_statistics(rectangular(5, 0, {}));
    check_statistics(rectangular(3, 7, {{0, 6, 1}, {1, 1, -2}, {2, 0, 3}, {2, 2, 0}}));
    check_statistics(rectangular(7, 3, {{6, 0, 1}, {1, 1, -2}, {6, 2, 3}, {4, 2, 0}}));
    check_statistics(rectangular(1, 1000, {{0, 0, 1}, {0, 999, 2}}));
}

TEST_CASE("a difference from the mirror is found where it is first by rows") {
    csr_matrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 3, 3 * (1 + 1e-15), 1}};
    CHECK(describe(a).symmetry->by_values()); // rounding is no difference
    a.values[2] = 3.5;
    const auto upper = describe(a).symmetry->first_difference;
    REQUIRE(upper);
    CHECK(upper->row == 0);
    CHECK(upper->column == 1);
    CHECK(upper->here == 3);
    CHECK(upper->there == 3.5);
    // A cancelled assembly leaves values tiny beside the diagonal, but with no digit in common.
    CHECK(describe(from_dense({{1, 1e-17}, {-3e-17, 1}})).symmetry->by_values());
    CHECK_FALSE(describe(from_dense({{1e-9, 1e-17}, {-3e-17, 1e-9}})).symmetry->by_values());
    // The entry is only below the diagonal and found by the second pass; row 1 stands before row 2.
    const auto lower =
        describe(from_dense({{1, 0, 0, 0}, {7, 1, 0, 0}, {0, 0, 1, 5}, {0, 0, 0, 1}})).symmetry;
    CHECK(lower->first_difference->row == 1);
    CHECK(lower->first_difference->column == 0);
    CHECK(lower->first_difference->there == 0);
    // A stored zero without partner breaks the pattern's symmetry, not the values'.
    const csr_matrix<double> zero{2, 2, {0, 1, 3}, {0, 0, 1}, {1, 0, 1}};
    CHECK_FALSE(describe(zero).symmetry->by_pattern());
    CHECK(describe(zero).symmetry->by_values());
}

TEST_CASE("values that aren't finite are counted and break nothing") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const csr_matrix<double> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {nan, infinity, -infinity, 2}};
    const matrix_statistics s = describe(a);
    CHECK(s.values.not_finite == 3);
    CHECK_FALSE(s.symmetry->by_values());
    CHECK(s.symmetry->negated_values == 2);
    CHECK(std::isfinite(s.symmetry->largest_difference));
}

TEST_CASE("dominance allows for the rounding of the row's sum") {
    // 0.1 + 0.2 is above 0.3 in binary: the row is weakly dominant all the same, and not strictly.
    const auto s = describe(from_dense({{0.3, 0.1, -0.2}, {0, 5, 0}, {1, 1, 1}}));
    CHECK(s.diagonal.weakly_dominant == 2);
    CHECK(s.diagonal.strictly_dominant == 1);
    CHECK(s.diagonal.worst_row == 2);
    CHECK(s.diagonal.worst_ratio == 0.5);
    CHECK(describe(from_dense({{0.3, -0.1, -0.2}, {0, 1, 0}, {0, 0, 1}})).values.zero_row_sums ==
          1);
}

TEST_CASE("a 2 x 2 minor shows that a matrix is not positive definite") {
    CHECK_FALSE(describe(poisson2d<double>(6)).indefinite_at);
    CHECK_FALSE(describe(from_dense({{2, 1.4}, {1.4, 1}})).indefinite_at); // 2 > 1.96
    const auto found = describe(from_dense({{1, 0, 0}, {0, 2, 1.5}, {0, 1.5, 1}})).indefinite_at;
    REQUIRE(found);
    CHECK(found->row == 1);
    CHECK(found->column == 2);
    CHECK(describe(from_dense({{2, 1}, {1, 0.5}})).indefinite_at); // singular: not definite either
    // The squares of these values overflow and vanish.
    CHECK_FALSE(describe(from_dense({{1e200, 1e-200}, {1e-200, 1e-200}})).indefinite_at);
    CHECK(describe(from_dense({{1e-200, 2e-200}, {2e-200, 1e-200}})).indefinite_at);
    // There is nothing to prove without symmetry or a positive diagonal.
    CHECK_FALSE(describe(from_dense({{1, 9}, {8, 1}})).indefinite_at);
    CHECK_FALSE(describe(from_dense({{-1, 9}, {9, 1}})).indefinite_at);
}

TEST_CASE("unsorted rows and duplicates describe the operator that they add up to") {
    const csr_matrix<double> a{2, 2, {0, 3, 5}, {1, 0, 1}, {1, 4, 2}};
    csr_matrix<double> both = a;
    both.column_indices = {1, 0, 1, 0, 1};
    both.values = {1, 4, 2, 3, 9};
    const matrix_statistics s = describe(both); // {{4, 3}, {3, 9}}
    CHECK(s.stored == 5);
    CHECK(s.duplicates == 1);
    CHECK_FALSE(s.sorted);
    CHECK(s.nnz() == 4);
    CHECK(s.symmetry->by_values());
    CHECK(s.lengths.most == 2);
    const csr_matrix<double> repeated{1, 2, {0, 2}, {1, 1}, {1, 1}};
    CHECK(describe(repeated).sorted);
    CHECK(describe(repeated).duplicates == 1);
}

TEST_CASE("statistics of float matrices use the digits of float") {
    const csr_matrix<float> a{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 3, 3.0001F, 1}};
    CHECK(describe(a).symmetry->by_values());
    CHECK(describe(random_spd<float>(40, 5, 1)).symmetry->by_values());
}

} // namespace krylith
