#include <krylith/tests/sparse/sptrsv/triangular_cases.hpp>

#include <algorithm>
#include <random>

#include <krylith/matrix/gallery.hpp>

namespace krylith::testing {

namespace {

/// Appends a row whose entries beside the diagonal sum up to about 1, so that neither triangle lets
/// errors grow, with or without its diagonal.
void add_row(csr_matrix<double>& a, const std::vector<std::int64_t>& columns,
             std::mt19937& random) {
    std::uniform_real_distribution<double> number(-1, 1);
    for (const std::int64_t column : columns) {
        a.column_indices.push_back(static_cast<std::int32_t>(column));
        a.values.push_back(
            column == a.rows ? 1.5 : 1.5 * number(random) / static_cast<double>(columns.size()));
    }
    ++a.rows;
    a.row_offsets.push_back(a.nnz());
}

/// `length(i)` random columns for row i, and the diagonal; shuffled unless sorted.
template <class Length>
csr_matrix<double> scattered(std::int64_t rows, std::int64_t reach, bool sorted, unsigned seed,
                             const Length& length) {
    std::mt19937 random(seed);
    csr_matrix<double> a;
    a.columns = rows;
    for (std::int64_t i = 0; i < rows; ++i) {
        std::uniform_int_distribution<std::int64_t> near(std::max<std::int64_t>(0, i - reach),
                                                         std::min(rows - 1, i + reach));
        std::vector<std::int64_t> columns{i};
        for (std::int64_t k = length(i, random); k > 0; --k) columns.push_back(near(random));
        if (sorted)
            std::sort(columns.begin(), columns.end());
        else
            std::shuffle(columns.begin(), columns.end(), random);
        add_row(a, columns, random);
    }
    return a;
}

/// Red points first, then black ones: two levels.
csr_matrix<double> red_black(std::int64_t rows) {
    std::mt19937 random(3);
    csr_matrix<double> a;
    a.columns = rows;
    const std::int64_t half = rows / 2;
    for (std::int64_t i = 0; i < rows; ++i) {
        std::vector<std::int64_t> columns{i};
        for (std::int64_t k = -1; k <= 1; ++k) {
            const std::int64_t other = i < half ? i + half + k : i - half + k;
            if (other >= 0 && other < rows && (other < half) != (i < half))
                columns.push_back(other);
        }
        std::sort(columns.begin(), columns.end());
        add_row(a, columns, random);
    }
    return a;
}

} // namespace

csr_matrix<double> chain(std::int64_t rows, std::int64_t step) {
    std::mt19937 random(1);
    csr_matrix<double> a;
    a.columns = rows;
    for (std::int64_t i = 0; i < rows; ++i) {
        std::vector<std::int64_t> columns;
        if (i >= step) columns.push_back(i - step);
        columns.push_back(i);
        if (i + step < rows) columns.push_back(i + step);
        add_row(a, columns, random);
    }
    return a;
}

std::vector<triangular_case> triangular_cases() {
    using random = std::mt19937;
    const auto up_to = [](std::int64_t most) {
        return [most](std::int64_t, random& r) {
            return static_cast<std::int64_t>(r() % static_cast<unsigned>(most + 1));
        };
    };
    std::vector<triangular_case> cases;
    const auto add = [&](std::string name, std::string finds, csr_matrix<double> a) {
        cases.push_back({std::move(name), std::move(finds), std::move(a)});
    };
    add("none", "launches of nothing", {});
    add("one", "a row without others", chain(1, 1));
    add("diagonal", "slices without steps", chain(3000, 3000));
    add("chain", "lanes of a warp that wait for each other", chain(3000, 1));
    add("chain by 31", "slices that have rows of two levels", chain(3000, 31));
    add("chain by 33", "levels a little wider than a slice", chain(3000, 33));
    add("wide chain", "levels wider than a block", chain(9000, 2500));
    add("two colours", "places that are rows", red_black(5000));
    add("grid", "a front that widens and narrows", make_gallery<double>("poisson3d:17:random=1"));
    add("boxes", "rows of 13 entries in batches",
        make_gallery<double>("poisson3d_27point:9:random=2"));
    add("scattered", "levels without an order", scattered(4000, 4000, true, 5, up_to(6)));
    add("unsorted, with duplicates", "rows that stop at the diagonal",
        scattered(1500, 40, false, 6, up_to(20)));
    add("mixed lengths", "slices of all classes side by side",
        scattered(3000, 300, true, 7, [](std::int64_t, random& r) {
            constexpr std::int64_t lengths[] = {0, 2, 12, 50, 400};
            return lengths[r() % 5];
        }));
    add("giant row", "a row longer than all others together",
        scattered(2000, 2000, true, 8, [](std::int64_t i, random&) {
            return std::int64_t{i == 1000 || i == 1999 || i == 0 ? 5000 : 2};
        }));
    return cases;
}

std::vector<double> substitute(const csr_matrix<double>& a, triangle_part part,
                               triangle_diagonal diagonal, const std::vector<double>& b) {
    std::vector<double> x(b.size());
    const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    for (std::int64_t step = 0; step < a.rows; ++step) {
        const std::int64_t i = part == triangle_part::lower ? step : a.rows - 1 - step;
        long double sum = b[index(i)];
        long double pivot = 0;
        for (std::int64_t k = a.row_offsets[index(i)]; k < a.row_offsets[index(i + 1)]; ++k) {
            const std::int64_t j = a.column_indices[index(k)];
            if (j == i) pivot += a.values[index(k)];
            if (part == triangle_part::lower ? j < i : j > i)
                sum -= static_cast<long double>(a.values[index(k)]) * x[index(j)];
        }
        x[index(i)] = static_cast<double>(diagonal == triangle_diagonal::unit ? sum : sum / pivot);
    }
    return x;
}

std::vector<double> right_hand_side(std::int64_t rows, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<double> b(static_cast<std::size_t>(rows));
    for (double& entry : b) entry = number(random);
    return b;
}

} // namespace krylith::testing
