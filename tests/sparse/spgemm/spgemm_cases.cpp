#include <krylith/tests/sparse/spgemm/spgemm_cases.hpp>

#include <algorithm>
#include <utility>

#include <krylith/matrix/gallery/poisson.hpp>

#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith::testing {

namespace {

std::function<std::int64_t(std::int64_t)> always(std::int64_t length) {
    return [length](std::int64_t) { return length; };
}

/// Entries in no order, several at one place.
csr_matrix<double> unsorted(std::int64_t rows, std::int64_t columns, int most) {
    random_numbers random(91);
    csr_matrix<double> a{rows, columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        for (int k = random.below(most); k > 0; --k) {
            a.column_indices.push_back(random.below(static_cast<int>(columns)));
            a.values.push_back(random.real());
        }
        a.row_offsets.push_back(a.nnz());
    }
    return a;
}

/// Each row so many times, with other values.
csr_matrix<double> repeated(const csr_matrix<double>& a, int times) {
    csr_matrix<double> all{a.rows * times, a.columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < all.rows; ++row) {
        const auto begin = a.row_offsets[static_cast<std::size_t>(row / times)];
        const auto end = a.row_offsets[static_cast<std::size_t>(row / times) + 1];
        all.column_indices.insert(all.column_indices.end(), a.column_indices.begin() + begin,
                                  a.column_indices.begin() + end);
        all.row_offsets.push_back(all.row_offsets.back() + end - begin);
    }
    all.values.resize(all.column_indices.size());
    return with_values(std::move(all), 7);
}

/// Rows of `length` entries around a place that moves with the row.
csr_matrix<double> banded(std::int64_t rows, std::int64_t columns, int length) {
    csr_matrix<double> a{rows, columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t first = i * (columns - 7 * length) / rows;
        for (int k = 0; k < length; ++k)
            a.column_indices.push_back(static_cast<std::int32_t>(first + k * (1 + i % 7)));
        a.row_offsets.push_back(a.nnz());
    }
    a.values.resize(a.column_indices.size());
    return with_values(std::move(a), 5);
}

/// Rows of different columns near a place that moves with the row, as those of a prolongation.
csr_matrix<double> near_columns(std::int64_t rows, std::int64_t columns,
                                const std::function<std::int64_t(std::int64_t)>& lengths) {
    csr_matrix<double> a{rows, columns, {0}, {}, {}};
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t length = lengths(i);
        const std::int64_t first = i * (columns - length) / rows;
        for (std::int64_t k = 0; k < length; ++k)
            a.column_indices.push_back(static_cast<std::int32_t>(first + k));
        a.row_offsets.push_back(a.nnz());
    }
    a.values.resize(a.column_indices.size());
    return with_values(std::move(a), 9);
}

/// Every so many-th row has entries in all parts of the matrix instead of its own.
csr_matrix<double> with_far_entries(csr_matrix<double> a, std::int64_t every) {
    for (std::int64_t i = 0; i < a.rows; i += every) {
        const std::int64_t begin = a.row_offsets[static_cast<std::size_t>(i)];
        const std::int64_t count = a.row_offsets[static_cast<std::size_t>(i) + 1] - begin;
        for (std::int64_t k = 0; k < count; ++k)
            a.column_indices[static_cast<std::size_t>(begin + k)] =
                static_cast<std::int32_t>(k * a.columns / count);
    }
    return a;
}

/// A dense block of rows x columns for each entry, in the order of entries.
csr_matrix<double> in_blocks(const csr_matrix<double>& a, int rows, int columns) {
    csr_matrix<double> all{a.rows * rows, a.columns * columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < all.rows; ++row) {
        const auto of = static_cast<std::size_t>(row / rows);
        for (auto k = a.row_offsets[of]; k < a.row_offsets[of + 1]; ++k)
            for (int c = 0; c < columns; ++c)
                all.column_indices.push_back(
                    a.column_indices[static_cast<std::size_t>(k)] * columns + c);
        all.row_offsets.push_back(static_cast<std::int64_t>(all.column_indices.size()));
    }
    all.values.resize(all.column_indices.size());
    return with_values(std::move(all), 11);
}

/// The same, but for the last entry of the last row, which has the column after its own.
csr_matrix<double> nearly_in_blocks(const csr_matrix<double>& a, int rows, int columns) {
    csr_matrix<double> result = in_blocks(a, rows, columns);
    ++result.column_indices.back();
    ++result.columns;
    return result;
}

std::vector<spgemm_case> make_cases() {
    const auto one_long = [](std::int64_t row, std::int64_t length, std::int64_t others) {
        return [=](std::int64_t i) { return i == row ? length : others; };
    };
    const auto some = [](int most) {
        return [=](std::int64_t i) { return i * 7919 % (most + 1); };
    };
    std::vector<spgemm_case> cases;
    const auto add = [&](std::string surfaces, csr_matrix<double> a, csr_matrix<double> b) {
        cases.emplace_back(std::move(surfaces), std::move(a), std::move(b));
    };
    auto rows = [seed = std::uint64_t{1}](std::int64_t m, std::int64_t n,
                                          const auto& lengths) mutable {
        return rows_of_lengths(m, n, lengths, ++seed);
    };
    add("launches without rows", rows(0, 5, always(0)), rows(5, 3, always(2)));
    add("an empty matrix", rows(0, 0, always(0)), rows(0, 0, always(0)));
    add("no row of B", rows(4, 0, always(0)), rows(0, 3, always(0)));
    add("no nonzero of A", rows(7, 5, always(0)), rows(5, 9, always(3)));
    add("no nonzero of B", rows(7, 5, always(3)), rows(5, 9, always(0)));
    add("no column of C", rows(7, 5, always(2)), rows(5, 0, always(0)));
    add("one number", rows(1, 1, always(1)), rows(1, 1, always(1)));
    add("empty rows and columns among others", rows(300, 40, some(5)), rows(40, 900, some(11)));
    add("one class of rows only", rows(100, 50, always(3)), rows(50, 60, always(4)));
    add("every class of short rows", rows(500, 200, some(12)), rows(200, 300, some(14)));
    add("products in several entries", rows(300, 30, always(20)), rows(30, 25, always(14)));
    add("entries of A in any order, several at a place", unsorted(200, 50, 20),
        rows(50, 300, always(7)));
    add("rows of B that are longer than a group of lanes", rows(60, 40, always(3)),
        rows(40, 500, some(90)));
    add("hash tables that overflow", rows(50, 900, always(30)), rows(900, 300000, always(30)));
    add("hash tables that are nearly full", rows(100, 900, always(15)),
        rows(900, 300000, [](std::int64_t i) { return 10 + i % 8; }));
    add("tables of a whole block", rows(20, 900, always(70)), rows(900, 140000, always(20)));
    add("tables of a whole block that overflow", rows(20, 900, always(70)),
        rows(900, 140000, always(40)));
    add("columns that lie near each other among many", banded(40, 900, 70),
        banded(900, 300000, 20));
    add("rows of B of all lengths, near each other among many", banded(100, 900, 50),
        banded(900, 200000, 40));
    add("columns that are more than every tenth row lets expect",
        rows(40, 900, [](std::int64_t i) { return i % 10 == 0 ? 60 : 90; }),
        rows(900, 140000, always(20)));
    add("dense rows", rows(30, 70, always(70)), rows(70, 800, always(800)));
    add("several chunks of a row", rows(20, 500, always(100)), rows(500, 4000, always(60)));
    add("several ranges of columns", rows(5, 500, always(100)), rows(500, 1200000, always(60)));
    add("a giant row of A", rows(300, 5000, one_long(77, 5000, 3)), rows(5000, 6000, always(4)));
    add("a giant row of B", rows(900, 200, some(4)), rows(200, 70000, one_long(5, 70000, 4)));
    add("rows that repeat those before", repeated(rows(30, 400, always(60)), 3),
        rows(400, 3000, always(40)));
    add("repeated rows, of blocks of columns", repeated(rows(12, 900, always(70)), 5),
        rows(900, 140000, always(30)));
    add("repeated rows among short ones", repeated(rows(40, 300, some(90)), 6),
        rows(300, 2000, always(45)));
    const auto add_blocks = [&](int m, int k, int n) {
        add("dense blocks of " + std::to_string(m) + " x " + std::to_string(k) + " x " +
                std::to_string(n),
            in_blocks(rows(70, 50, some(12)), m, k), in_blocks(rows(50, 60, some(9)), k, n));
    };
    add_blocks(3, 3, 6);
    add_blocks(6, 3, 6);
    add_blocks(6, 6, 6);
    add_blocks(2, 2, 3);
    add_blocks(3, 2, 3);
    add_blocks(4, 5, 2);
    add_blocks(8, 7, 5);
    add_blocks(12, 12, 12); // too large for a GPU's shared memory
    add("dense blocks in any order, several at a place", in_blocks(unsorted(90, 50, 20), 3, 3),
        in_blocks(rows(50, 300, always(7)), 3, 6));
    add("several chunks of a row of dense blocks", in_blocks(rows(12, 200, always(50)), 6, 3),
        in_blocks(rows(200, 3000, always(40)), 3, 6));
    add("many columns of dense blocks", in_blocks(rows(20, 900, always(70)), 3, 3),
        in_blocks(rows(900, 140000, always(20)), 3, 2));
    add("what looks like dense blocks in its first rows", in_blocks(rows(70, 50, always(12)), 3, 3),
        nearly_in_blocks(rows(50, 60, always(9)), 3, 6));
    add("neighbouring rows that share rows of B, some of them empty",
        poisson3d_27point<double>(9, 8, 7), near_columns(9 * 8 * 7, 40, some(6)));
    add("neighbouring rows, of which some share too little",
        with_far_entries(poisson3d_27point<double>(9, 8, 7), 61),
        near_columns(9 * 8 * 7, 300, always(5)));
    add("many products of a row, and few results", rows(64, 400, some(130)),
        rows(400, 60, always(30)));
    add("many products of a row, and few results of most", rows(64, 400, some(130)),
        rows(400, 900, [](std::int64_t i) { return i == 7 ? 400 : i % 30; }));
    add("rows of many classes, listed by several blocks",
        rows(2600, 400, [](std::int64_t i) { return i % 97 == 0 ? 300 : i % 13; }),
        rows(400, 2000, some(40)));
    const auto stencil = poisson3d<double>(9, 8, 7);
    add("the square of a stencil", stencil, stencil);
    return cases;
}

} // namespace

spgemm_case::spgemm_case(std::string text, csr_matrix<double> left, csr_matrix<double> right)
    : surfaces(std::move(text)),
      a(std::move(left)),
      b(std::move(right)),
      product(plain_product(a, b)),
      single_a(converted<float>(a)),
      single_b(converted<float>(b)),
      single_product(plain_product(single_a, single_b)),
      new_a(with_values(a, 101)),
      new_b(with_values(b, 102)),
      new_product(plain_product(new_a, new_b)) {}

const std::vector<spgemm_case>& spgemm_cases() {
    static const std::vector<spgemm_case> cases = make_cases();
    return cases;
}

csr_matrix<double> rows_of_lengths(std::int64_t rows, std::int64_t columns,
                                   const std::function<std::int64_t(std::int64_t)>& lengths,
                                   std::uint64_t seed) {
    random_numbers random(seed);
    csr_matrix<double> a{rows, columns, {0}, {}, {}};
    std::vector<std::int32_t> row;
    for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t length = std::min(columns, lengths(i));
        row.clear();
        for (std::int64_t k = 0; k < length; ++k)
            row.push_back(length >= columns ? static_cast<std::int32_t>(k)
                                            : random.below(static_cast<int>(columns)));
        std::sort(row.begin(), row.end());
        row.erase(std::unique(row.begin(), row.end()), row.end());
        for (const std::int32_t column : row) {
            a.column_indices.push_back(column);
            a.values.push_back(random.real());
        }
        a.row_offsets.push_back(a.nnz());
    }
    return a;
}

template <class T>
csr_matrix<T> plain_product(const csr_matrix<T>& a, const csr_matrix<T>& b) {
    csr_matrix<T> c{a.rows, b.columns, {0}, {}, {}};
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    std::vector<T> sums(at(b.columns));
    std::vector<bool> has(at(b.columns));
    std::vector<std::int32_t> row; // the columns of which `has` is true
    for (std::size_t i = 0; i < at(a.rows); ++i) {
        row.clear();
        for (auto k = at(a.row_offsets[i]); k < at(a.row_offsets[i + 1]); ++k) {
            const std::size_t from = at(a.column_indices[k]);
            for (auto j = at(b.row_offsets[from]); j < at(b.row_offsets[from + 1]); ++j) {
                const volatile T product = a.values[k] * b.values[j]; // rounded, whatever can fuse
                const std::size_t column = at(b.column_indices[j]);
                if (!has[column]) row.push_back(b.column_indices[j]);
                has[column] = true;
                sums[column] = sums[column] + product;
            }
        }
        std::sort(row.begin(), row.end());
        for (const std::int32_t column : row) {
            c.column_indices.push_back(column);
            c.values.push_back(std::exchange(sums[at(column)], T{}));
            has[at(column)] = false;
        }
        c.row_offsets.push_back(c.nnz());
    }
    return c;
}

template csr_matrix<double> plain_product(const csr_matrix<double>&, const csr_matrix<double>&);
template csr_matrix<float> plain_product(const csr_matrix<float>&, const csr_matrix<float>&);

csr_matrix<double> with_values(csr_matrix<double> a, std::uint64_t seed) {
    a.values = random_values<double>(a.nnz(), seed);
    return a;
}

} // namespace krylith::testing
