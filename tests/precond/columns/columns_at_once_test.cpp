// Preconditioners that are applied to several columns at once.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/joint/column_matrix.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>

namespace krylith {

namespace {

/// Random columns of norm 1, but for the second, which is 0.
template <class T>
std::vector<std::vector<T>> columns_of_norm_1(std::int64_t rows, int k) {
    std::vector<std::vector<T>> columns;
    for (int j = 0; j < k; ++j) {
        std::vector<T> v = testing::random_values<T>(rows, 40 + static_cast<unsigned>(j));
        double square = 0;
        for (const T value : v) square += static_cast<double>(value) * static_cast<double>(value);
        for (T& value : v)
            value = j == 1 ? T(0) : static_cast<T>(static_cast<double>(value) / std::sqrt(square));
        columns.push_back(std::move(v));
    }
    return columns;
}

/// Applies the preconditioner to all columns at once and to one after the other.
template <class T>
void compare_columns(const device_group& group, const csr_matrix<T>& matrix,
                     const std::string& text, int k, double tolerance,
                     const matrix_nodes& nodes = {}) {
    INFO(text << ", " << k << " columns");
    const column_matrix<T> a(group, csr_view<T>(matrix), k, false, nodes.block_size);
    const csr_view<T> view(matrix);
    const any_preconditioner<T> m = make_preconditioner<T>(text, a.of_columns(), view, nodes);
    const any_preconditioner<T> single = make_preconditioner<T>(text, a.single(), view, nodes);
    CHECK(m.name() == single.name());
    CHECK(m.levels().size() == single.levels().size());
    CHECK(m.bytes() > 0);
    const auto columns = columns_of_norm_1<T>(matrix.rows, k);
    const auto wide = static_cast<std::size_t>(k);
    std::vector<T> rows(columns.size() * columns.front().size());
    for (std::size_t j = 0; j < wide; ++j)
        for (std::size_t i = 0; i < columns[j].size(); ++i) rows[i * wide + j] = columns[j][i];
    const std::vector<T> z = testing::applied(a.of_columns(), m, rows);
    double worst = 0;
    double largest = 0;
    for (std::size_t j = 0; j < wide; ++j) {
        const std::vector<T> alone = testing::applied(a.single(), single, columns[j]);
        for (std::size_t i = 0; i < alone.size(); ++i) {
            const auto expected = static_cast<double>(alone[i]);
            worst = std::max(worst, std::abs(static_cast<double>(z[i * wide + j]) - expected));
            largest = std::max(largest, std::abs(expected));
        }
    }
    CHECK(worst <= tolerance * largest);
}

} // namespace

KRYLITH_GROUP_TEST("columns at once: every preconditioner of the table that says so") {
    const auto poisson = poisson2d<double>(40, random_scaling{2});
    int found = 0;
    for (const preconditioner_method* const row : all_preconditioners) {
        if (!row->takes_columns) continue;
        ++found;
        for (const int k : {2, 8}) compare_columns(group, poisson, std::string(row->name), k, 1e-5);
    }
    CHECK(found >= 2);
}

KRYLITH_GROUP_TEST("columns at once: multigrid of all kinds") {
    const auto poisson = poisson3d<double>(11);
    for (const char* const text :
         {"amg:cycle=w", "amg:levels=1", "amg:precision=fp16", "amg:gathered=0", "amg:degree=1"})
        compare_columns(group, poisson, text, 4, 1e-4);
    compare_columns(group, poisson, "amg:precision=fp64", 4, 1e-12);
    compare_columns(group, convection_diffusion<double>(9, 30), "amg", 4, 1e-4);
    compare_columns(group, poisson2d<float>(25), "amg", 16, 1e-4);
    compare_columns(group, poisson2d<double>(3), "amg", 2, 1e-5); // inverted at once
}

KRYLITH_GROUP_TEST("columns at once: multigrid with rigid body modes") {
    const auto matrix = elasticity3d<double>(4, 3, 3);
    const auto coordinates = elasticity3d_coordinates(4, 3, 3);
    const std::vector<double> modes = rigid_body_modes(coordinates.values, coordinates.dimension);
    const matrix_nodes nodes{.block_size = 3, .near_null = modes};
    compare_columns(group, matrix, "amg", 4, 1e-4, nodes);
}

KRYLITH_GROUP_TEST("columns at once: polynomials of all kinds") {
    const auto poisson = poisson2d<double>(21, random_scaling{5});
    for (const char* const text : {"chebyshev:degree=1", "chebyshev:degree=2", "chebyshev:degree=3",
                                   "chebyshev:degree=4", "chebyshev:degree=9:kind=fourth"})
        compare_columns(group, poisson, text, 4, 1e-4);
    compare_columns(group, poisson, "chebyshev:precision=fp64", 4, 1e-12);
    compare_columns(group, poisson2d<float>(15), "chebyshev", 2, 1e-4);
}

KRYLITH_GROUP_TEST("columns at once: there are no new values") {
    const auto poisson = poisson2d<double>(20);
    const csr_view<double> view(poisson);
    const column_matrix<double> a(group, view, 4, false, 1);
    for (const preconditioner_method* const row : all_preconditioners) {
        if (!row->takes_columns) continue;
        any_preconditioner<double> m =
            make_preconditioner<double>(std::string(row->name), a.of_columns(), view);
        CHECK_THROWS_WITH_AS(m.update(view), doctest::Contains("takes no new values"), usage_error);
    }
}

} // namespace krylith
