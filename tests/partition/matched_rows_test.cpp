// Rows in the order that brings large entries to the diagonal, as a matrix of solves.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/matched_rows.hpp>
#include <krylith/precond/ilu0.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::random_values;

namespace {

/// Convection and diffusion with its rows moved, so that most of its diagonal is 0.
csr_matrix<double> with_rows_moved(const csr_matrix<double>& a) {
    testing::triplets entries;
    const std::int64_t n = a.rows;
    for (std::int64_t i = 0; i < n; ++i)
        for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++k)
            entries.emplace_back((i * 7 + 3) % n, a.column_indices[k], a.values[k]);
    return testing::from_triplets(n, entries);
}

} // namespace

TEST_CASE("matched rows: P A and P b, and the rows that have no entry on the diagonal") {
    // Rows 0 and 1 change places; row 3 of A is empty.
    const auto a = testing::from_dense({{1, 8, 0, 0}, {4, 0, 2, 0}, {0, 3, 5, 0}, {0, 0, 0, 0}});
    const matched_rows<double> matched(a);
    const std::vector<std::int32_t> row_at(matched.row_at().begin(), matched.row_at().end());
    CHECK(row_at == std::vector<std::int32_t>{1, 0, 2, 3});
    CHECK(matched.moved() == 2);
    CHECK(matched.unmatched() == 1);
    CHECK(testing::to_eigen(matched.matrix()) ==
          testing::to_eigen(
              testing::from_dense({{4, 0, 2, 0}, {1, 8, 0, 0}, {0, 3, 5, 0}, {0, 0, 0, 0}})));
    const std::vector<double> b = {1, 2, 3, 4};
    CHECK(matched.right_hand_side(b) == std::vector<double>{2, 1, 3, 4});
    CHECK(matched_rows<double>(csr_matrix<double>{0, 0, {0}, {}, {}}).moved() == 0);
}

TEST_CASE("matched rows: new values keep the order, and what is refused") {
    const auto a = testing::from_dense({{1, 8, 0}, {4, 0, 2}, {0, 3, 5}});
    matched_rows<double> matched(a);
    std::vector<double> values = a.values;
    for (double& value : values) value *= -2;
    matched.update(values);
    CHECK(testing::to_eigen(matched.matrix()) ==
          testing::to_eigen(testing::from_dense({{-8, 0, -4}, {-2, -16, 0}, {0, -6, -10}})));
    values.pop_back();
    CHECK_THROWS_WITH_AS(matched.update(values), "matched_rows: 5 values, must be 6", usage_error);
    CHECK_THROWS_WITH_AS((void)matched.right_hand_side(values),
                         "matched_rows: 5 entries of b, must be 3", usage_error);
    const csr_matrix<double> wide{1, 2, {0, 1}, {1}, {1.0}};
    CHECK_THROWS_WITH_AS(matched_rows<double>{wide},
                         "matched_rows needs a square matrix; A is 1 x 2", usage_error);
    const csr_matrix<double> broken{2, 2, {0, 1, 2}, {0, 5}, {1.0, 1.0}};
    CHECK_THROWS_AS(matched_rows<double>{broken}, input_error);
}

KRYLITH_GROUP_TEST("matched rows: methods of the diagonal solve what they couldn't") {
    const auto original = make_gallery<double>("convection_diffusion:6:20");
    const auto matrix = with_rows_moved(original);
    const auto values = random_values<double>(matrix.rows, 21);
    const auto plain = make_operator(group, matrix);
    CHECK_THROWS_AS(jacobi<double>{*plain}, input_error);
    const matched_rows<double> matched(matrix);
    CHECK(matched.unmatched() == 0);
    const auto a = make_operator(group, matched.matrix());
    const auto b = testing::make_range_vector(a->layout(), matched.right_hand_side(values));
    const auto check = [&](const auto& solve) {
        auto x = a->make_range_vector();
        const solve_result result = solve(x);
        INFO(testing::describe(result));
        CHECK(result.converged());
        const std::vector<double> solution = testing::values_of(x);
        const Eigen::VectorXd r =
            testing::to_eigen(values) - testing::to_eigen(matrix) * testing::to_eigen(solution);
        CHECK(r.norm() <= 1.01e-8 * testing::to_eigen(values).norm()); // of A x = b as it was given
    };
    const solver_options options{.rtol = 1e-8};
    check([&](auto& x) { return gmres(*a, b, x, options, jacobi<double>(*a)); });
    check([&](auto& x) { return bicgstab(*a, b, x, options, ilu0<double>(*a, matched.matrix())); });
}

KRYLITH_GROUP_TEST("matched rows: the program of its header") {
    const auto matrix = with_rows_moved(make_gallery<double>("convection_diffusion:4:20"));
    const auto values = random_values<double>(matrix.rows, 3);
    const matched_rows<double> matched(matrix);
    const auto a = make_operator(group, matched.matrix());
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(matched.right_hand_side(values));
    const solve_result result = gmres(*a, b, x, {}, jacobi<double>(*a));
    CHECK(result.converged());
}

} // namespace krylith
