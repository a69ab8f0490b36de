#include <krylith/tests/support/matrices.hpp>

#include <algorithm>
#include <cmath>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

csr_matrix<double> from_triplets(std::int64_t n, const triplets& entries) {
    coo_matrix<double> a;
    a.rows = a.columns = n;
    for (const auto& [row, column, value] : entries) {
        a.row_indices.push_back(static_cast<std::int32_t>(row));
        a.column_indices.push_back(static_cast<std::int32_t>(column));
        a.values.push_back(value);
    }
    return to_csr(a);
}

csr_matrix<double> from_dense(const std::vector<std::vector<double>>& rows) {
    triplets entries;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < rows[i].size(); ++j)
            if (rows[i][j] != 0)
                entries.emplace_back(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j),
                                     rows[i][j]);
    return from_triplets(static_cast<std::int64_t>(rows.size()), entries);
}

csr_matrix<double> diagonal_matrix(const std::vector<double>& diagonal) {
    triplets entries;
    for (std::size_t i = 0; i < diagonal.size(); ++i) entries.emplace_back(i, i, diagonal[i]);
    return from_triplets(static_cast<std::int64_t>(diagonal.size()), entries);
}

csr_matrix<double> shift_matrix(std::int64_t n, std::int64_t shift) {
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i) entries.emplace_back(i, ((i + shift) % n + n) % n, 1.0);
    return from_triplets(n, entries);
}

csr_matrix<double> laplace_1d(std::int64_t n) {
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i) {
        entries.emplace_back(i, i, 2.0);
        if (i > 0) entries.emplace_back(i, i - 1, -1.0);
        if (i + 1 < n) entries.emplace_back(i, i + 1, -1.0);
    }
    return from_triplets(n, entries);
}

csr_matrix<double> random_matrix(std::int64_t n, int per_row, double diagonal, std::uint64_t seed) {
    random_numbers random(seed);
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i) {
        if (diagonal != 0) entries.emplace_back(i, i, diagonal);
        for (int k = 0; k < per_row; ++k)
            entries.emplace_back(i, random.below(static_cast<int>(n)), random.real());
    }
    return from_triplets(n, entries);
}

namespace {

/// A matrix whose row `row` has entries in columns 0 .. length - 1, spread by `step`; the other
/// rows have one each.
csr_matrix<double> one_long_row(std::int64_t n, std::int64_t row, std::int64_t length,
                                std::uint64_t seed) {
    random_numbers random(seed);
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t count = i == row ? length : 1;
        for (std::int64_t k = 0; k < count; ++k)
            entries.emplace_back(i, (i + k) % n, random.real());
    }
    return from_triplets(n, entries);
}

csr_matrix<double> dense_column(std::int64_t n, std::int64_t column) {
    random_numbers random(11);
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i) entries.emplace_back(i, column, random.real());
    return from_triplets(n, entries);
}

csr_matrix<double> arrow(std::int64_t n) {
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i) {
        entries.emplace_back(i, i, 3.0 + static_cast<double>(i));
        if (i == 0) continue;
        entries.emplace_back(0, i, 1.0 / static_cast<double>(i));
        entries.emplace_back(i, 0, -1.0);
    }
    return from_triplets(n, entries);
}

csr_matrix<double> blocks(std::int64_t n, std::int64_t size) {
    random_numbers random(12);
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i / size * size; j < std::min(n, i / size * size + size); ++j)
            entries.emplace_back(i, j, random.real());
    return from_triplets(n, entries);
}

csr_matrix<double> rows_of_all_lengths(std::int64_t n) {
    random_numbers random(13);
    triplets entries;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t k = 0; k < i % 37; ++k)
            entries.emplace_back(i, (i * 7 + k * 3) % n, random.real());
    return from_triplets(n, entries);
}

csr_matrix<double> gaps(std::int64_t n) {
    triplets entries;
    for (std::int64_t i = n / 3; i < n; i += 5)
        entries.emplace_back(i, n - 1 - i, 1.0 + static_cast<double>(i));
    return from_triplets(n, entries);
}

std::vector<battery_entry> make_battery() {
    std::vector<double> signs(97);
    for (std::size_t i = 0; i < signs.size(); ++i)
        signs[i] = std::ldexp(i % 2 == 0 ? 1.0 : -1.0, static_cast<int>(i % 60) - 30);
    return {
        {"no rows", "work for a grid or a chunk of nothing", from_triplets(0, {})},
        {"one row", "devices without rows; reductions over one entry", diagonal_matrix({-3})},
        {"two rows", "more devices than rows", from_dense({{1, 2}, {3, 4}})},
        {"no nonzeros", "y is not written where a row is empty", from_triplets(40, {})},
        {"identity", "x from the wrong place", shift_matrix(600, 0)},
        {"shift by 1", "one ghost a device, from the next; the last from the first",
         shift_matrix(601, 1)},
        {"shift by half", "every entry is a ghost", shift_matrix(514, 257)},
        {"diagonal", "rows and values out of step", diagonal_matrix(signs)},
        {"tridiagonal", "boundary rows only at the ends", laplace_1d(1000)},
        {"dense", "columns mixed up; 7 long rows a device", random_matrix(48, 300, 0, 1)},
        {"dense row", "a device with one row; partition by nonzeros",
         one_long_row(900, 450, 900, 2)},
        {"dense first row", "an empty device before or after it", one_long_row(300, 0, 300, 3)},
        {"dense column", "all devices want the same ghost", dense_column(700, 350)},
        {"empty rows", "offsets that repeat, at tile and slice borders", gaps(700)},
        {"row of 1793", "one more than a tile of entries", one_long_row(1900, 950, 1793, 4)},
        {"row of 2049", "a row of several passes of a block", one_long_row(2100, 31, 2049, 5)},
        {"rows of 0 to 36", "padding, and sorting within windows", rows_of_all_lengths(1111)},
        {"random", "any place of x", random_matrix(1025, 9, 1, 6)},
        {"blocks", "no ghosts at all: nobody sends or waits", blocks(8 * 84, 8)},
        {"arrow", "one row and one column for everybody", arrow(500)},
        {"poisson2d", "tiles of several grid lines", poisson2d<double>(31, 33)},
        {"many rows", "several chunks and blocks, whole warps on a device",
         poisson2d<double>(110, 95, random_scaling{7})},
    };
}

} // namespace

const std::vector<battery_entry>& battery() {
    static const std::vector<battery_entry> all = make_battery();
    return all;
}

} // namespace krylith::testing
