// Small sparsity patterns, each with the fault that it finds.
#pragma once

#include <krylith/partition/halo/halo_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace krylith::partition_tests {

/// A pattern: the columns of row i are columns[row_offsets[i] .. row_offsets[i + 1]).
struct pattern {
    std::vector<std::int64_t> row_offsets{0};
    std::vector<std::int32_t> columns;

    void add(std::int64_t column) { columns.push_back(static_cast<std::int32_t>(column)); }
    void end_row() { row_offsets.push_back(static_cast<std::int64_t>(columns.size())); }
    std::int64_t rows() const { return static_cast<std::int64_t>(row_offsets.size()) - 1; }
};

/// The 5-point stencil on a grid of side x side.
inline pattern poisson2d(std::int64_t side) {
    pattern result;
    for (std::int64_t y = 0; y < side; ++y) {
        for (std::int64_t x = 0; x < side; ++x) {
            const std::int64_t i = y * side + x;
            if (y > 0) {
                result.add(i - side);
            }
            if (x > 0) {
                result.add(i - 1);
            }
            result.add(i);
            if (x + 1 < side) {
                result.add(i + 1);
            }
            if (y + 1 < side) {
                result.add(i + side);
            }
            result.end_row();
        }
    }
    return result;
}

/// A pattern of so many columns whose rows have 0 to `most` entries each, unsorted and with
/// repetitions.
inline pattern random_pattern(std::int64_t rows, std::int64_t of_columns, int most, unsigned seed) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> lengths(0, most);
    std::uniform_int_distribution<std::int64_t> columns(0, of_columns - 1);
    pattern result;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (int left = lengths(generator); left > 0; --left) {
            result.add(columns(generator));
        }
        result.end_row();
    }
    return result;
}

inline pattern random_pattern(std::int64_t rows, int most, unsigned seed) {
    return random_pattern(rows, rows, most, seed);
}

/// A pattern of the diagonal, one full row and one full column.
inline pattern arrow(std::int64_t rows, std::int64_t full_row, std::int64_t full_column) {
    pattern result;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < rows; ++j) {
            if (i == j || i == full_row || j == full_column) {
                result.add(j);
            }
        }
        result.end_row();
    }
    return result;
}

inline pattern without_nonzeros(std::int64_t rows) {
    pattern result;
    result.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
    return result;
}

/// A pattern whose rows from `first` to `last` reference their mirror image; all others are empty.
inline pattern mirrored_band(std::int64_t rows, std::int64_t first, std::int64_t last) {
    pattern result;
    for (std::int64_t i = 0; i < rows; ++i) {
        if (first <= i && i < last) {
            result.add(rows - 1 - i);
        }
        result.end_row();
    }
    return result;
}

/// The columns of a rank's rows by their local numbers in a plan.
inline std::vector<std::int32_t> localized(const halo_plan& plan, int rank, const pattern& a) {
    const auto rows = plan.rows.owned(rank);
    const auto at = [&](std::int64_t row) { return a.row_offsets[static_cast<std::size_t>(row)]; };
    std::vector<std::int32_t> result(static_cast<std::size_t>(at(rows.end) - at(rows.begin)), -1);
    localize_columns(plan, rank, a.row_offsets, a.columns, result);
    return result;
}

struct named_pattern {
    std::string name;
    pattern matrix;
};

inline std::vector<named_pattern> all_patterns() {
    return {
        {"no rows: loops that assume one", without_nonzeros(0)},
        {"one row without nonzeros", without_nonzeros(1)},
        {"one row: ranks without rows", arrow(1, 0, 0)},
        {"empty matrix: division by nnz", without_nonzeros(29)},
        {"fewer rows than ranks", arrow(3, 1, 1)},
        {"mesh: ghosts of two neighbours", poisson2d(9)},
        {"dense first row: a rank of one row", arrow(40, 0, 39)},
        {"dense last row, first column: all ranks need one entry", arrow(40, 39, 0)},
        {"dense in the middle, across word boundaries of a bitmap", arrow(200, 100, 63)},
        {"empty rows first", mirrored_band(100, 60, 100)},
        {"empty rows last", mirrored_band(100, 0, 30)},
        {"empty rows at both ends", mirrored_band(100, 45, 55)},
        {"sparse random, empty rows, unsorted, repeated", random_pattern(300, 3, 1)},
        {"denser random", random_pattern(130, 40, 2)},
        {"several trips of the parallel loop", random_pattern(9000, 6, 3)},
    };
}

struct rectangular_pattern {
    std::string name;
    std::int64_t columns;
    pattern matrix;
};

/// Interpolation in one dimension from every `factor`-th point to all `rows`.
inline pattern interpolation(std::int64_t rows, std::int64_t factor) {
    pattern result;
    for (std::int64_t i = 0; i < rows; ++i) {
        result.add(i / factor);
        if (i % factor != 0) {
            result.add(i / factor + 1);
        }
        result.end_row();
    }
    return result;
}

/// A pattern with one full row; all others are empty.
inline pattern full_row(std::int64_t rows, std::int64_t columns, std::int64_t full) {
    pattern result;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; i == full && j < columns; ++j) {
            result.add(j);
        }
        result.end_row();
    }
    return result;
}

inline std::vector<rectangular_pattern> rectangular_patterns() {
    return {
        {"no rows: ranks that only own columns", 17, without_nonzeros(0)},
        {"no columns: ranks that only own rows", 0, without_nonzeros(17)},
        {"no nonzeros", 40, without_nonzeros(9)},
        {"one row: one rank receives, all others send", 50, full_row(1, 50, 0)},
        {"one column: one rank sends, all others receive", 1, random_pattern(50, 1, 2, 6)},
        {"fewer columns than ranks: ranks without columns receive", 3, random_pattern(90, 3, 3, 7)},
        {"fewer rows than ranks: ranks without rows send", 90, random_pattern(3, 90, 60, 8)},
        {"interpolation: local columns count from another place than rows", 41,
         interpolation(81, 2)},
        {"wide, empty rows, unsorted, repeated", 700, random_pattern(60, 700, 9, 9)},
        {"tall, empty columns", 60, random_pattern(700, 40, 2, 10)},
        {"tall, several trips of the parallel loop", 1200, random_pattern(9000, 1200, 5, 11)},
        {"a full row in the middle of empty ones", 130, full_row(30, 130, 14)},
    };
}

} // namespace krylith::partition_tests
