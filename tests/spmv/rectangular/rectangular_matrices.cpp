#include <krylith/tests/spmv/rectangular/rectangular_matrices.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

csr_matrix<double> rectangular_matrix(std::int64_t rows, std::int64_t columns,
                                      const triplets& entries) {
    csr_matrix<double> a;
    a.rows = rows;
    a.columns = columns;
    std::vector<std::vector<std::pair<std::int64_t, double>>> of_row(
        static_cast<std::size_t>(rows));
    for (const auto& [row, column, value] : entries)
        of_row.at(static_cast<std::size_t>(row)).emplace_back(column, value);
    a.row_offsets.assign(1, 0);
    for (const auto& row : of_row) {
        for (const auto& [column, value] : row) {
            a.column_indices.push_back(static_cast<std::int32_t>(column));
            a.values.push_back(value);
        }
        a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
    }
    return a;
}

csr_matrix<double> random_rectangular(std::int64_t rows, std::int64_t columns, int most,
                                      std::uint64_t seed) {
    random_numbers random(seed);
    triplets entries;
    for (std::int64_t row = 0; row < rows; ++row)
        for (int left = random.below(most + 1); left > 0; --left)
            entries.emplace_back(row, random.below(static_cast<int>(columns)), random.real());
    return rectangular_matrix(rows, columns, entries);
}

csr_matrix<double> interpolation_1d(std::int64_t n) {
    triplets entries;
    for (std::int64_t row = 0; row < 2 * n - 1; ++row) {
        if (row % 2 == 0) {
            entries.emplace_back(row, row / 2, 1.0);
        } else {
            entries.emplace_back(row, row / 2, 0.5);
            entries.emplace_back(row, row / 2 + 1, 0.5);
        }
    }
    return rectangular_matrix(2 * n - 1, n, entries);
}

csr_matrix<double> plainly_transposed(const csr_matrix<double>& a) {
    triplets entries;
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
             k < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
            entries.emplace_back(a.column_indices[static_cast<std::size_t>(k)], row,
                                 a.values[static_cast<std::size_t>(k)]);
    return rectangular_matrix(a.columns, a.rows, entries);
}

namespace {

csr_matrix<double> with_dense_row(csr_matrix<double> a, std::int64_t dense) {
    triplets entries;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
             k < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
            entries.emplace_back(row, a.column_indices[static_cast<std::size_t>(k)],
                                 a.values[static_cast<std::size_t>(k)]);
        for (std::int64_t j = 0; row == dense && j < a.columns; ++j)
            entries.emplace_back(row, j, 1.0 / static_cast<double>(j + 3));
    }
    return rectangular_matrix(a.rows, a.columns, entries);
}

std::vector<battery_entry> make_battery() {
    const auto dense = [](std::int64_t rows, std::int64_t columns) {
        triplets entries;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                entries.emplace_back(i, j, 1.0 / static_cast<double>(1 + 2 * i + 3 * j));
        return rectangular_matrix(rows, columns, entries);
    };
    return {
        {"0 x 5", "kernels without rows on devices that send x", rectangular_matrix(0, 5, {})},
        {"5 x 0", "beta y where there is no x", rectangular_matrix(5, 0, {})},
        {"1 x 900", "one device multiplies, all others send", dense(1, 900)},
        {"900 x 1", "one device sends, all others own no x but have ghosts", dense(900, 1)},
        {"3 x 200", "fewer rows than devices", random_rectangular(3, 200, 90, 1)},
        {"200 x 3", "fewer columns than devices", random_rectangular(200, 3, 3, 2)},
        {"no nonzeros", "ranges of rows without entries", rectangular_matrix(40, 9, {})},
        {"300 x 70", "sizes of x taken for those of y", random_rectangular(300, 70, 5, 3)},
        {"70 x 300", "empty columns, and x longer than y", random_rectangular(70, 300, 9, 4)},
        {"dense row, wide", "the long block and redundant rows of lra",
         with_dense_row(random_rectangular(90, 700, 4, 5), 31)},
        {"dense row, tall", "a cut within a row, whose parts need all of x",
         with_dense_row(random_rectangular(700, 90, 4, 6), 650)},
        {"one full column", "all devices reference one entry",
         plainly_transposed(with_dense_row(random_rectangular(50, 400, 2, 7), 20))},
        {"interpolation", "rows and columns that are owned from different numbers on",
         interpolation_1d(257)},
        {"restriction", "the same for rows that need twice as many columns",
         plainly_transposed(interpolation_1d(257))},
        {"large interpolation", "boundaries at whole warps, several tiles of x",
         interpolation_1d(4501)},
    };
}

} // namespace

const std::vector<battery_entry>& rectangular_battery() {
    static const std::vector<battery_entry> entries = make_battery();
    return entries;
}

std::vector<operator_kind> all_kinds() {
    std::vector<operator_kind> kinds(operators::all.begin(), operators::all.end());
    kinds.push_back(operators::automatic);
    return kinds;
}

} // namespace krylith::testing
