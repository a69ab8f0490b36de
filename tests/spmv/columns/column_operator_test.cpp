// Products with several columns at once.
#include <cstdint>
#include <memory>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/column_operator.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

using testing::random_values;

namespace {

template <class T>
column_operator<T> of_columns(const device_group& group, const csr_matrix<T>& matrix, int k) {
    return {make_operator(group, matrix, {.kind = operators::halo, .format = formats::csr}), k};
}

/// Y = alpha A X + beta Y, added up in the order of the entries of each row.
template <class T>
std::vector<double> expected(const csr_matrix<T>& a, int k, T alpha, const std::vector<T>& x,
                             T beta, const std::vector<T>& y) {
    std::vector<double> result(y.size());
    const auto columns = static_cast<std::size_t>(k);
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row)
        for (std::size_t j = 0; j < columns; ++j) {
            double sum = 0;
            for (auto at = static_cast<std::size_t>(a.row_offsets[row]);
                 at < static_cast<std::size_t>(a.row_offsets[row + 1]); ++at)
                sum += static_cast<double>(a.values[at]) *
                       static_cast<double>(
                           x[static_cast<std::size_t>(a.column_indices[at]) * columns + j]);
            const std::size_t place = row * columns + j;
            result[place] = static_cast<double>(alpha) * sum +
                            static_cast<double>(beta) * static_cast<double>(y[place]);
        }
    return result;
}

/// Multiplies twice: the second product waits for ghosts that a kernel has sent.
template <class T>
void check_column_products(const device_group& group, const csr_matrix<T>& matrix, int k) {
    INFO(matrix.rows << " x " << matrix.columns << ", " << k << " columns");
    const column_operator<T> a = of_columns(group, matrix, k);
    CHECK(a.columns_at_once() == k);
    CHECK(a.rows() == matrix.rows * k);
    const auto xs = random_values<T>(matrix.columns * k, 11);
    const auto ys = random_values<T>(matrix.rows * k, 12);
    auto x = a.make_domain_vector("x");
    auto y = a.make_range_vector();
    execution run(group, {});
    struct factors {
        T alpha;
        T beta;
    };
    for (const factors& f : {factors{1, 0}, factors{-1, 1}, factors{T(2.5), T(-0.5)}}) {
        x.upload(xs);
        y.upload(ys);
        group.synchronize();
        put_ghosts(run, x);
        a.apply(run, f.alpha, x, f.beta, y);
        run.flush();
        group.synchronize();
        std::vector<T> got(ys.size());
        y.download(got);
        const auto want = expected(matrix, k, f.alpha, xs, f.beta, ys);
        double worst = 0;
        for (std::size_t i = 0; i < got.size(); ++i)
            worst = std::max(worst, std::abs(static_cast<double>(got[i]) - want[i]));
        CHECK(worst <= (sizeof(T) == 8 ? 1e-12 : 1e-4));
    }
}

} // namespace

KRYLITH_GROUP_TEST("column_operator: multiplies every column") {
    for (const int k : {2, 4, 8, 16}) {
        check_column_products(group, poisson2d<double>(13, random_scaling{3}), k);
        // Rows that a GPU gives a warp each.
        check_column_products(group, testing::random_matrix(90, 41, 1, 7), k);
    }
    check_column_products(group, testing::converted<float>(testing::random_matrix(90, 41, 1, 8)),
                          8);
    check_column_products(group, testing::converted<float>(testing::random_matrix(300, 5, 1, 9)),
                          4);
}

KRYLITH_GROUP_TEST("column_operator: matrices that are not square, and small ones") {
    csr_matrix<double> wide;
    wide.rows = 3;
    wide.columns = 50;
    wide.row_offsets = {0, 2, 2, 4};
    wide.column_indices = {0, 49, 7, 21};
    wide.values = {1, -2, 3, 4};
    check_column_products(group, wide, 4);
    csr_matrix<double> tall;
    tall.rows = 40;
    tall.columns = 2;
    tall.row_offsets.assign(41, 2);
    tall.row_offsets.front() = 0;
    tall.column_indices = {0, 1};
    tall.values = {5, 6};
    check_column_products(group, tall, 2);
    check_column_products(group, testing::from_dense({{3}}), 2); // more devices than rows
}

KRYLITH_GROUP_TEST("column_operator: refuses what it can't take") {
    const auto matrix = poisson2d<double>(5);
    const auto wide = [&](operator_options options, int layout_columns, int columns) {
        auto single = make_operator(group, matrix, options);
        const layout_handle layout = in_columns(single->layout(), layout_columns);
        return column_operator<double>(std::move(single), {layout, layout}, columns);
    };
    CHECK_THROWS_WITH_AS((void)wide({.kind = operators::nz}, 4, 4),
                         doctest::Contains("operator halo in csr, not nz"), usage_error);
    const operator_options csr{.kind = operators::halo, .format = formats::csr};
    CHECK_THROWS_WITH_AS((void)wide(csr, 2, 4), doctest::Contains("as many entries a row"),
                         usage_error);
    CHECK_THROWS_WITH_AS((void)of_columns(group, matrix, 3),
                         doctest::Contains("take 2, 4, 8 or 16, not 3"), usage_error);
    const auto a = wide(csr, 4, 4);
    auto x = a.make_domain_vector("x");
    auto y = a.make_range_vector();
    execution run(group, {});
    scalar sum(run);
    const reduction_into<double> dots[] = {sum = dot(y, y)};
    CHECK_THROWS_WITH_AS(a.apply(run, 1, x, 0, y, dots), doctest::Contains("no dot products"),
                         usage_error);
    auto mine = a.single().make_range_vector();
    CHECK_THROWS_AS(a.apply(run, 1, x, 0, mine), usage_error);
    CHECK_THROWS_WITH_AS(a.diagonal(y), doctest::Contains("no diagonal()"), usage_error);
}

} // namespace krylith
