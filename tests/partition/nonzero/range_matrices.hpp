// Small random matrices of integers for the tests of parts: products of them are exact in any order
// of summation. Each shape is there for a place where parts may be cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <krylith/tests/support/random.hpp>

namespace krylith::partition_tests {

struct triplet {
    std::int32_t row = 0;
    std::int32_t column = 0;
    double value = 0;
};

struct test_matrix {
    std::string shape;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<triplet> entries; ///< by rows, columns ascend in them
};

/// The arrays of the matrix in each format, entries in the order in which they stand.
struct test_arrays {
    std::vector<std::int32_t> row_indices;
    std::vector<std::int32_t> column_indices;
    std::vector<double> values;

    explicit test_arrays(const std::vector<triplet>& entries) {
        for (const triplet& e : entries) {
            row_indices.push_back(e.row);
            column_indices.push_back(e.column);
            values.push_back(e.value);
        }
    }
    /// Where each of `count` rows or columns begins, for indices that ascend.
    static std::vector<std::int64_t> offsets(const std::vector<std::int32_t>& major_size,
                                             std::int64_t count) {
        std::vector<std::int64_t> result;
        for (std::int64_t major = 0; major <= count; ++major)
            result.push_back(std::ranges::lower_bound(major_size, major) - major_size.begin());
        return result;
    }
};

[[nodiscard]] inline std::vector<triplet> by_columns(std::vector<triplet> entries) {
    std::ranges::stable_sort(entries, {}, &triplet::column);
    return entries;
}

[[nodiscard]] inline std::vector<triplet> shuffled(std::vector<triplet> entries,
                                                   krylith::testing::random_numbers& random) {
    for (std::size_t k = entries.size(); k > 1; --k)
        std::swap(entries[k - 1],
                  entries[static_cast<std::size_t>(random.below(static_cast<int>(k)))]);
    return entries;
}

/// One of ten shapes by `number`, at most 30 x 30.
[[nodiscard]] inline test_matrix random_matrix(int number) {
    krylith::testing::random_numbers random(static_cast<std::uint64_t>(number) + 1);
    const char* const shapes[]{"random",         "empty first rows and columns",
                               "empty middle",   "empty last rows and columns",
                               "few entries",    "one row",
                               "one column",     "a dense row among few entries",
                               "a dense column", "no entries"};
    const int shape = number % 10;
    test_matrix m{shapes[shape], 1 + random.below(30), 1 + random.below(30), {}};
    if (shape == 5) m.rows = 1;
    if (shape == 6) m.columns = 1;
    if (shape == 9 && random.flip()) m.rows = m.columns = random.below(2) * m.rows;
    const int percent = shape == 4 || shape == 7 || shape == 8 ? 3 : 10 + random.below(80);
    const auto special = static_cast<std::int64_t>(random.below(30));
    for (std::int64_t i = 0; i < m.rows; ++i)
        for (std::int64_t j = 0; j < m.columns; ++j) {
            bool here = random.below(100) < percent;
            if (shape == 1) here = here && 3 * i >= m.rows && 3 * j >= m.columns;
            if (shape == 2)
                here = here && (4 * i < m.rows || 4 * i >= 3 * m.rows) &&
                       (4 * j < m.columns || 4 * j >= 3 * m.columns);
            if (shape == 3) here = here && 3 * i < 2 * m.rows && 3 * j < 2 * m.columns;
            if (shape == 7) here = here || i == special % m.rows;
            if (shape == 8) here = here || j == special % m.columns;
            if (shape == 9) here = false;
            if (here)
                m.entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j),
                                     static_cast<double>(random.below(19) - 9)});
        }
    return m;
}

/// y = alpha A x + beta y by a plain loop over entries; beta = 0 doesn't read y.
[[nodiscard]] inline std::vector<double> product(const test_matrix& a, double alpha,
                                                 const std::vector<double>& x, double beta,
                                                 std::vector<double> y) {
    for (double& v : y) v = beta == 0 ? 0 : beta * v;
    for (const triplet& e : a.entries)
        y[static_cast<std::size_t>(e.row)] +=
            alpha * e.value * x[static_cast<std::size_t>(e.column)];
    return y;
}

} // namespace krylith::partition_tests
