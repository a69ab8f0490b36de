// Matrices and vectors that sparse products must get right, each with the bug that it is there for.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/types/index_width.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

/// The columns of each row; canonical if they ascend.
struct row_pattern {
    std::string name;
    std::int64_t columns;
    std::vector<std::vector<std::int32_t>> rows;
};

/// Makes entries at each place with probability `percent` / 100.
[[nodiscard]] inline row_pattern random_places(std::int64_t rows, std::int64_t columns, int percent,
                                               std::uint64_t seed) {
    random_numbers random(seed);
    row_pattern p = {std::to_string(rows) + " x " + std::to_string(columns), columns, {}};
    p.rows.resize(as_size(rows));
    for (auto& row : p.rows)
        for (std::int32_t column = 0; column < columns; ++column)
            if (random.below(100) < percent) row.push_back(column);
    return p;
}

/// Makes about `mean` entries a row, and a full row and a full column: `mean` times rows is enough
/// for many threads, and the full row and column lie in the ranges of several of them.
[[nodiscard]] inline row_pattern with_giants(std::int64_t rows, std::int64_t columns, int mean,
                                             std::uint64_t seed) {
    random_numbers random(seed);
    row_pattern p = {"giant row and column", columns, {}};
    const auto giant_row = as_size(rows / 3);
    const auto giant_column = static_cast<std::int32_t>(columns / 2);
    for (std::size_t row = 0; row < as_size(rows); ++row) {
        std::vector<bool> there(as_size(columns), row == giant_row);
        there[as_size(giant_column)] = true;
        for (int k = random.below(2 * mean); k > 0; --k)
            there[as_size(random.below(static_cast<int>(columns)))] = true;
        p.rows.emplace_back();
        for (std::int32_t column = 0; column < columns; ++column)
            if (there[as_size(column)]) p.rows.back().push_back(column);
    }
    return p;
}

[[nodiscard]] inline std::vector<row_pattern> small_patterns() {
    std::vector<row_pattern> all = {
        random_places(40, 70, 10, 1),                                 // wide
        random_places(90, 33, 15, 2),                                 // tall
        random_places(31, 31, 20, 3),                                 // no whole word of bits
        random_places(32, 32, 20, 4),                                 // exactly one
        random_places(33, 33, 20, 5),                                 // one bit more
        random_places(50, 50, 100, 6),                                // every row by every column
        random_places(1, 200, 50, 7),                                 // one row
        random_places(200, 1, 50, 8),                                 // one column
        {"no rows", 5, {}},                                           // nothing to write
        {"no columns", 0, std::vector<std::vector<std::int32_t>>(5)}, // nothing to read
        {"no entries", 4, std::vector<std::vector<std::int32_t>>(3)}};
    row_pattern gaps = random_places(96, 96, 8, 9); // empty rows and columns, also at the ends
    gaps.name = "gaps";
    for (std::size_t row = 0; row < gaps.rows.size(); ++row) {
        if (row % 4 != 1) gaps.rows[row].clear();
        std::erase_if(gaps.rows[row], [](std::int32_t column) { return column % 3 != 1; });
    }
    all.push_back(gaps);
    return all;
}

/// Gives values: small integers where sums of two must be exact, else anything.
template <class T>
[[nodiscard]] csr_matrix<T> with_values(const row_pattern& p, bool integers, std::uint64_t seed) {
    random_numbers random(seed);
    csr_matrix<T> a;
    a.rows = static_cast<std::int64_t>(p.rows.size());
    a.columns = p.columns;
    for (const auto& row : p.rows) {
        for (const std::int32_t column : row) {
            a.column_indices.push_back(column);
            a.values.push_back(static_cast<T>(integers ? random.below(50) : random.real()));
        }
        a.row_offsets.push_back(static_cast<std::int64_t>(a.column_indices.size()));
    }
    return a;
}

/// Gives NaN as values for a semiring that doesn't read values, so that reading them shows.
template <class S, class M>
[[nodiscard]] csr_matrix<M> with_values_for(const row_pattern& p, std::uint64_t seed) {
    csr_matrix<M> a = with_values<M>(p, S::exact, seed);
    if (!S::reads_matrix) a.values.assign(a.values.size(), std::numeric_limits<M>::quiet_NaN());
    return a;
}

inline constexpr int vector_kinds = 8;

/// The indices of a vector, ascending: none, one, the first and last, 1%, 10%, half, all, or those
/// of empty columns.
[[nodiscard]] inline std::vector<std::int32_t> indices_of_kind(int kind, const row_pattern& p,
                                                               std::uint64_t seed) {
    random_numbers random(seed);
    std::vector<bool> used(as_size(p.columns), false);
    for (const auto& row : p.rows)
        for (const std::int32_t column : row) used[as_size(column)] = true;
    const auto n = static_cast<std::int32_t>(p.columns);
    const std::int32_t one = n == 0 ? 0 : random.below(n);
    std::vector<std::int32_t> indices;
    for (std::int32_t i = 0; i < n; ++i) {
        const int roll = random.below(100);
        const bool kinds[vector_kinds] = {false,    i == one,         i == 0 || i == n - 1,
                                          roll < 1, roll < 10,        roll < 50,
                                          true,     !used[as_size(i)]};
        if (kinds[kind]) indices.push_back(i);
    }
    return indices;
}

template <class T>
void shuffle(std::vector<T>& list, random_numbers& random) {
    for (std::size_t k = list.size(); k > 1; --k)
        std::swap(list[k - 1], list[static_cast<std::size_t>(random.below(static_cast<int>(k)))]);
}

} // namespace krylith::testing
