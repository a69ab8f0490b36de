// Matrices whose transposition is hard in one way each, and the plain transposition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/tests/support/patterns.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// A pattern, which may be rectangular; `name` says the bug that it finds.
struct pattern_case {
    std::string name;
    std::int64_t columns = 0;
    pattern rows;
};

/// Rows from a function of the row that fills its columns.
template <class Fill>
[[nodiscard]] pattern rows_of(std::int64_t rows, const Fill& fill) {
    pattern p;
    std::vector<std::int32_t> columns;
    for (std::int64_t row = 0; row < rows; ++row) {
        columns.clear();
        fill(static_cast<int>(row), columns);
        p.add_row(columns);
    }
    return p;
}

/// Rows of columns within `band` of a line from corner to corner, in any order, with duplicates.
[[nodiscard]] inline pattern_case banded_case(std::uint64_t seed) {
    random_numbers random(seed);
    const int rows = 1 + random.below(20000);
    const int columns = 1 + random.below(20000);
    const int band = 1 + random.below(900);
    const int longest = 1 + random.below(24);
    return {"banded, unsorted, with duplicates, seed " + std::to_string(seed), columns,
            rows_of(rows, [&](int row, std::vector<std::int32_t>& to) {
                const auto middle = static_cast<int>(std::int64_t{row} * columns / rows);
                for (int k = random.below(longest); k > 0; --k)
                    to.push_back(
                        std::clamp(middle + random.below(band) - band / 2, 0, columns - 1));
            })};
}

[[nodiscard]] inline std::vector<pattern_case> pattern_cases() {
    random_numbers random(31);
    using columns_of_row = std::vector<std::int32_t>;
    std::vector<pattern_case> cases = {
        {"no rows and no columns", 0, {}},
        {"no rows", 7, {}},
        {"no columns", 0, rows_of(9, [](int, columns_of_row&) {})},
        {"no nonzeros", 1000, rows_of(2000, [](int, columns_of_row&) {})},
        {"one entry", 1, rows_of(1, [](int, columns_of_row& to) { to = {0}; })},
        {"one column", 1, rows_of(70000, [](int, columns_of_row& to) { to = {0}; })},
        {"one row with duplicates", 5000,
         rows_of(1,
                 [&](int, columns_of_row& to) {
                     for (int k = 0; k < 9000; ++k) to.push_back(random.below(5000));
                 })},
        {"one giant row", 3000,
         rows_of(3000,
                 [&](int row, columns_of_row& to) {
                     to = {row};
                     for (int k = 0; row == 1234 && k < 150000; ++k)
                         to.push_back(random.below(3000));
                 })},
        {"an arrow", 90000,
         rows_of(90000,
                 [](int row, columns_of_row& to) {
                     to = {row, 89999};
                     for (int k = 0; row == 89999 && k < 89999; ++k) to.push_back(k);
                 })},
        {"one giant column", 3000,
         rows_of(90000,
                 [&](int row, columns_of_row& to) {
                     to = {17};
                     if (row % 3 == 0) to.push_back(random.below(3000));
                 })},
        {"long runs of empty rows", 100000,
         rows_of(200000,
                 [](int row, columns_of_row& to) {
                     for (int k = 0; row % 991 == 0 && k < 5; ++k) to.push_back(row / 2);
                 })},
        {"empty rows between others", 40000,
         rows_of(40000,
                 [&](int row, columns_of_row& to) {
                     for (int k = random.below(4); k > 0; --k)
                         to.push_back(std::min(39999, row + k));
                     if (random.below(3) == 0) to.clear();
                 })},
        {"many more columns than entries", 3000000,
         rows_of(64,
                 [](int row, columns_of_row& to) {
                     for (int k = 0; k < 4000; ++k) to.push_back(row * 40000 + k * 7);
                 })},
        {"columns that descend", 50000,
         rows_of(50000, [](int row, columns_of_row& to) { to = {49999 - row}; })},
        {"a restriction: eight rows a column", 10000,
         rows_of(80000,
                 [](int row, columns_of_row& to) {
                     to = {row / 8};
                     if (row % 2 != 0) to.push_back(std::min(9999, row / 8 + 1));
                     if (row % 16 == 3) to.push_back(std::min(9999, row / 8 + 50));
                 })},
        {"long columns in tiles", 4000,
         rows_of(40000,
                 [&](int row, columns_of_row& to) {
                     to = {row / 1000 * 100 + random.below(3), row / 1000 * 100 + 90};
                 })},
        {"three columns, nine duplicates a row", 40,
         rows_of(3000,
                 [&](int, columns_of_row& to) {
                     for (int k = 0; k < 9; ++k) to.push_back(7 * random.below(3));
                 })},
        {"a mesh of 7 points", 30 * 30 * 30, stencil(7, 30, 30, 30)},
        {"a mesh of 27 points, unsorted", 18 * 18 * 18, shuffled(stencil(27, 18, 18, 18), 5)},
        {"a mesh with each entry twice", 20 * 20 * 20, doubled(stencil(7, 20, 20, 20))},
        {"random columns", 60000, random_pattern(50000, 9, 60000, 3)},
        {"random columns, enough for all threads", 90000, random_pattern(40000, 40, 90000, 4)},
    };
    for (std::uint64_t seed = 1; seed <= 8; ++seed) cases.push_back(banded_case(seed));
    return cases;
}

/// The pattern with values that tell entries apart.
template <class T>
[[nodiscard]] csr_matrix<T> matrix_of(const pattern_case& c) {
    csr_matrix<T> a{c.rows.rows(), c.columns, c.rows.offsets, c.rows.indices, {}};
    for (std::size_t k = 0; k < a.column_indices.size(); ++k)
        a.values.push_back(static_cast<T>(static_cast<int>(k % 8388593) - 4194304));
    return a;
}

/// The transposed matrix, entry after entry, and where each entry was.
template <class T>
[[nodiscard]] std::pair<csr_matrix<T>, std::vector<std::int64_t>>
plain_transposition(const csr_matrix<T>& a) {
    csr_matrix<T> t{a.columns, a.rows, std::vector<std::int64_t>(a.columns + 1), {}, {}};
    for (const std::int32_t column : a.column_indices) ++t.row_offsets[column + 1];
    for (std::int64_t c = 0; c < a.columns; ++c) t.row_offsets[c + 1] += t.row_offsets[c];
    t.column_indices.resize(a.column_indices.size());
    t.values.resize(a.values.size());
    std::vector<std::int64_t> places(a.values.size());
    std::vector<std::int64_t> next = t.row_offsets;
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const std::int64_t place = next[a.column_indices[k]]++;
            t.column_indices[place] = static_cast<std::int32_t>(row);
            t.values[place] = a.values[k];
            places[place] = k;
        }
    return {std::move(t), std::move(places)};
}

} // namespace krylith::testing
