// Hierarchies of given levels: their cycle is that of dense matrices, on any devices.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/solvers/joint/column_matrix.hpp>

#include <krylith/tests/precond/amg/hand_made_levels.hpp>
#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::applied;
using testing::dense_cycle;
using testing::flow_2d;
using testing::geometric_1d;
using testing::hand_made_levels;
using testing::linear_interpolation;
using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::sparse_of;
using testing::square_aggregates;
using testing::times;
using testing::to_eigen;

namespace {

/// -u'' by given differences on 63 points, and R A P on 31 and 15.
hand_made_levels linear_1d(const std::string& name = "poisson1d:63") {
    hand_made_levels made{{make_gallery<double>(name)}, {}, {}};
    for (const Eigen::Index m : {31, 15})
        made.coarsen(linear_interpolation(m), linear_interpolation(m).transpose());
    return made;
}

/// Plain aggregation of a grid of 18 x 18 points.
hand_made_levels
aggregates_2d(const csr_matrix<double>& a = make_gallery<double>("poisson2d:18:random=2")) {
    hand_made_levels made{{a}, {}, {}};
    for (const Eigen::Index n : {18, 6})
        made.coarsen(square_aggregates(n, 3), square_aggregates(n, 3).transpose());
    return made;
}

/// Rows of R are those of I: values of the points that P takes over.
hand_made_levels by_injection() {
    hand_made_levels made{{make_gallery<double>("poisson1d:63")}, {}, {}};
    for (const Eigen::Index m : {31, 15}) {
        Eigen::MatrixXd injection = Eigen::MatrixXd::Zero(m, 2 * m + 1);
        for (Eigen::Index j = 0; j < m; ++j) injection(j, 2 * j + 1) = 1;
        made.coarsen(linear_interpolation(m), injection);
    }
    return made;
}

amg<double> made_of(const matrix_operator<double>& a, const hand_made_levels& levels,
                    const amg_options& options = {}) {
    const auto given = levels.given();
    return amg<double>(a, std::span<const multigrid_level_matrices<double>>(given), options);
}

constexpr amg_options in_fp64{.precision = multigrid_precision::fp64};

/// || M^-1 r - z || / || z ||, where z is that of the dense cycle.
double distance_from_dense(const matrix_operator<double>& a, const hand_made_levels& levels,
                           const amg_options& options, bool jacobi = false) {
    const amg<double> m = made_of(a, levels, options);
    const auto r = random_values<double>(levels.a.front().rows, 8);
    const Eigen::VectorXd z = dense_cycle(levels, m, jacobi)(to_eigen(r));
    return (to_eigen(applied(a, m, r)) - z).norm() / z.norm();
}

} // namespace

KRYLITH_GROUP_TEST("given levels: the cycle is that of dense matrices") {
    // The last level of the second one is too large to be inverted.
    for (const hand_made_levels& levels :
         {geometric_1d(7, 4), geometric_1d(9, 2), linear_1d(), aggregates_2d(), by_injection()}) {
        const auto a = make_operator(group, levels.a.front());
        CAPTURE(levels.a.front().rows);
        for (const std::int64_t gathered : {0, 150, 1'000'000})
            for (const int degree : {1, 2, 3})
                for (const auto cycle : {multigrid_cycle::v, multigrid_cycle::w}) {
                    CAPTURE(gathered);
                    CAPTURE(degree);
                    amg_options options{
                        .degree = degree, .cycle = cycle, .gathered_nonzeros = gathered};
                    CHECK(distance_from_dense(*a, levels, options) <= 2e-5);
                    options.precision = multigrid_precision::fp64;
                    CHECK(distance_from_dense(*a, levels, options) <= 1e-12);
                }
    }
}

KRYLITH_GROUP_TEST("given levels: cg takes the iterations of a dense cycle, on any devices") {
    for (const hand_made_levels& levels : {geometric_1d(9, 6), linear_1d(), aggregates_2d()}) {
        const auto& matrix = levels.a.front();
        CAPTURE(matrix.rows);
        const auto rhs = random_values<double>(matrix.rows, 5);
        problem<double> p(group, matrix, rhs);
        const amg<double> m = made_of(*p.a, levels);
        CHECK(m.symmetric());
        CHECK(m.name() == "amg_of_levels:degree=2:cycle=v");
        CHECK(m.recordable());
        const auto result = cg(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(p.relative_residual() <= 1e-8);
        CHECK(result.iterations == dense_cycle(levels, m).cg_iterations(to_eigen(rhs), 1e-8));
        const auto alone = make_operator(one_device_like(group), matrix);
        const auto of_one = made_of(*alone, levels).levels();
        REQUIRE(m.levels().size() == levels.a.size());
        double nonzeros = 0;
        for (std::size_t l = 0; l < of_one.size(); ++l) {
            CHECK(m.levels()[l].rows == levels.a[l].rows);
            CHECK(m.levels()[l].nonzeros == levels.a[l].nnz());
            CHECK(m.levels()[l].bound == of_one[l].bound); // the same bits
            nonzeros += static_cast<double>(levels.a[l].nnz());
        }
        CHECK(m.levels().back().format == "dense inverse");
        CHECK(m.operator_complexity() ==
              doctest::Approx(nonzeros / static_cast<double>(matrix.nnz())));
        CHECK(m.bytes() > 0);
    }
}

KRYLITH_GROUP_TEST("given levels: cg refuses transfers and matrices that aren't symmetric") {
    const hand_made_levels injected = by_injection();
    const hand_made_levels flow = aggregates_2d(flow_2d(18, 2));
    for (const hand_made_levels* const levels : {&injected, &flow}) {
        const auto& matrix = levels->a.front();
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 6));
        const amg<double> m = made_of(*p.a, *levels);
        CHECK_FALSE(m.symmetric());
        CHECK_THROWS_AS((void)cg(*p.a, p.b, p.x, {}, m), usage_error);
        const auto result = gmres(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(result.iterations <= 25);
        CHECK(p.relative_residual() <= 1e-8);
    }
    const auto a = make_operator(group, flow.a.front());
    CHECK(distance_from_dense(*a, flow, in_fp64, true) <= 1e-12);
    // The last matrix is only inverted.
    auto any_diagonal = flow;
    auto last = to_eigen(flow.a.back());
    last.col(0).swap(last.col(1));
    last(0, 0) = -1;
    any_diagonal.a.back() = sparse_of(last);
    CHECK(distance_from_dense(*a, any_diagonal, in_fp64, true) <= 1e-12);
    auto two = in_fp64;
    two.max_levels = 2;
    CHECK(made_of(*a, flow, two).levels().size() == 2);
    auto negative = linear_1d(); // M would be symmetric, but not definite
    negative.r.front() = times(negative.r.front(), -1);
    CHECK_FALSE(made_of(*make_operator(group, negative.a.front()), negative).symmetric());
}

KRYLITH_GROUP_TEST("given levels: any operator, order of rows, entries and columns at once") {
    const hand_made_levels levels = aggregates_2d();
    for (const auto& how :
         {operator_options{.order = orders::rcm}, operator_options{.kind = operators::nz}}) {
        const auto a = make_operator(group, levels.a.front(), how);
        CHECK(distance_from_dense(*a, levels, in_fp64) <= 1e-12);
    }
    hand_made_levels in_parts; // descending columns, entries in halves
    const auto split = [](const csr_matrix<double>& from) {
        csr_matrix<double> to{from.rows, from.columns, {0}, {}, {}};
        for (std::size_t row = 0; row < static_cast<std::size_t>(from.rows); ++row) {
            for (auto k = from.row_offsets[row + 1]; k-- > from.row_offsets[row];)
                for (int part = 0; part < 2; ++part) {
                    to.column_indices.push_back(from.column_indices[static_cast<std::size_t>(k)]);
                    to.values.push_back(from.values[static_cast<std::size_t>(k)] / 2);
                }
            to.row_offsets.push_back(static_cast<std::int64_t>(to.values.size()));
        }
        return to;
    };
    for (const auto& one : levels.a) in_parts.a.push_back(split(one));
    for (const auto& one : levels.p) in_parts.p.push_back(split(one));
    for (const auto& one : levels.r) in_parts.r.push_back(split(one));
    const auto a = make_operator(group, levels.a.front());
    CHECK(distance_from_dense(*a, in_parts, in_fp64) <= 1e-12);
    CHECK(made_of(*a, in_parts).symmetric());

    const column_matrix<double> both(group, levels.a.front(), 2, false, 1);
    const amg<double> m = made_of(both.of_columns(), levels, in_fp64);
    auto r = random_values<double>(levels.a.front().rows, 8);
    const double norm = to_eigen(r).norm();
    std::vector<double> rows;
    for (double& v : r) {
        v /= norm;
        rows.insert(rows.end(), {v, 0.0}); // the second column is 0
    }
    const auto z = applied(both.of_columns(), m, rows);
    const auto alone = applied(*a, made_of(*a, levels, in_fp64), r);
    for (std::size_t i = 0; i < alone.size(); ++i) {
        CHECK(z[2 * i] == doctest::Approx(alone[i]).epsilon(1e-10));
        CHECK(z[2 * i + 1] == 0);
    }
}

KRYLITH_GROUP_TEST("given levels: in fp32, matrices of any size, and a constant null space") {
    hand_made_levels levels = linear_1d();
    const auto narrow = testing::converted<float>(levels.a.front());
    std::vector<csr_matrix<float>> kept;
    for (const auto* of : {&levels.a, &levels.p, &levels.r})
        for (const auto& one : *of) kept.push_back(testing::converted<float>(one));
    const multigrid_level_matrices<float> given[] = {
        {kept[0], kept[3], kept[5]}, {kept[1], kept[4], kept[6]}, {kept[2]}};
    problem<float> p(group, narrow, random_values<float>(narrow.rows, 3));
    const amg<float> m(*p.a, given);
    CHECK(m.symmetric());
    CHECK(cg(*p.a, p.b, p.x, {.rtol = 1e-5}, m).converged());

    std::int64_t usual = 0;
    for (const int exponent : {0, 900, -900}) {
        hand_made_levels large = levels;
        for (auto& one : large.a) one = times(one, std::ldexp(1.0, exponent));
        problem<double> q(group, large.a.front(), random_values<double>(narrow.rows, 3));
        const auto result = cg(*q.a, q.b, q.x, {.rtol = 1e-8}, made_of(*q.a, large));
        CHECK(result.converged());
        if (exponent == 0) usual = result.iterations;
        CHECK(result.iterations == usual);
    }

    Eigen::MatrixXd neumann = to_eigen(make_gallery<double>("poisson2d:18"));
    for (Eigen::Index i = 0; i < neumann.rows(); ++i) neumann(i, i) -= neumann.row(i).sum();
    const hand_made_levels singular = aggregates_2d(sparse_of(neumann));
    auto rhs = random_values<double>(neumann.rows(), 4);
    const double mean = to_eigen(rhs).mean();
    for (double& v : rhs) v -= mean;
    problem<double> q(group, singular.a.front(), rhs);
    const auto result = cg(*q.a, q.b, q.x, {.rtol = 1e-8}, made_of(*q.a, singular));
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(result.iterations <= 25);
}

KRYLITH_GROUP_TEST("given levels: what is wrong is named, and there is no update") {
    const hand_made_levels good = linear_1d();
    const auto a = make_operator(group, good.a.front());
    const auto refused = [&](auto spoil, const char* words) {
        hand_made_levels bad = good;
        spoil(bad);
        CHECK_THROWS_WITH_AS((void)made_of(*a, bad), doctest::Contains(words), input_error);
    };
    const auto misfit = [&](auto spoil, const char* words) {
        hand_made_levels bad = good;
        spoil(bad);
        CHECK_THROWS_WITH_AS((void)made_of(*a, bad), doctest::Contains(words), usage_error);
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    refused([](auto& h) { h.p[1].values[2] = NAN; },
            "row 2 (counted from 0) of the prolongation of level 1 has the entry nan");
    refused([](auto& h) { h.r[0].values[4] = infinity; },
            "row 1 (counted from 0) of the restriction of level 0 has the entry inf");
    refused([](auto& h) { h.a[2].values[0] = -infinity; },
            "row 0 (counted from 0) of the matrix of level 2 has the entry -inf");
    refused([](auto& h) { h.a[1].values[0] = -1; },
            "the diagonal entry of row 0 (counted from 0) of the matrix of level 1 is -1");
    refused([](auto& h) { h.r[1].column_indices[0] = 31; }, "the restriction of level 1: ");
    misfit([](auto& h) { h.p[0] = h.p[1]; },
           "the prolongation of level 0 is 31 x 15; allowed is 63 x 31");
    misfit([](auto& h) { h.r[1] = h.r[0]; },
           "the restriction of level 1 is 31 x 63; allowed is 15 x 31");
    misfit([](auto& h) { h.a[0] = h.a[1]; },
           "the matrix of level 0 is 31 x 31; allowed is 63 x 63");
    misfit([](auto& h) { h = {}; }, "no levels were given");
    CHECK_THROWS_AS((void)made_of(*a, good, {.degree = 0}), usage_error);

    any_preconditioner<double> m = made_of(*a, good);
    const auto r = random_values<double>(good.a.front().rows, 2);
    const auto before = applied(*a, m, r);
    CHECK_THROWS_WITH_AS(m.update(csr_view<double>(good.a.front())),
                         doctest::Contains("the levels were given"), usage_error);
    CHECK(testing::same_bits(applied(*a, m, r), before));
    CHECK(m.levels().size() == 3);
    // A alone is a hierarchy, too.
    hand_made_levels one{{good.a.front()}, {}, {}};
    CHECK(distance_from_dense(*a, one, in_fp64) <= 1e-10);
}

} // namespace krylith
