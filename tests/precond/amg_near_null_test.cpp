// Multigrid for systems of several unknowns a node, with and without rigid body modes.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/solvers/cg.hpp>

#include <krylith/tests/precond/amg_solves.hpp>
#include <krylith/tests/precond/device_parts.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::amg_solve;
using testing::check_same_hierarchy;
using testing::device_parts;
using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::solve_with_amg;
using testing::values_of;

namespace {

std::vector<double> gallery_modes(const std::string& spec) {
    const node_coordinates nodes = gallery_coordinates(spec);
    return rigid_body_modes(nodes.values, nodes.dimension);
}

const operator_options nodes_together{.block_size = 3};

} // namespace

KRYLITH_GROUP_TEST("amg with rigid body modes: iterations are few, and the same on any devices") {
    const device_group one = one_device_like(group);
    for (const char* const spec : {"elasticity3d:6", "elasticity3d:16:6:6"}) {
        CAPTURE(spec);
        const auto matrix = make_gallery<double>(spec);
        const auto modes = gallery_modes(spec);
        amg_options options{.block_size = 3, .near_null = modes};
        const amg_solve alone = solve_with_amg(one, matrix, options, nodes_together);
        CHECK(alone.iterations <= 16);
        CHECK(alone.complexity <= 1.6);
        for (const std::int64_t gathered : {0, 1'000'000}) {
            options.gathered_nonzeros = gathered;
            const amg_solve here = solve_with_amg(group, matrix, options, nodes_together);
            check_same_hierarchy(here, alone);
        }
        const amg_solve shifts = solve_with_amg(group, matrix, {.block_size = 3}, nodes_together);
        CHECK(alone.iterations < shifts.iterations);
        CHECK(alone.iterations <
              solve_with_amg(group, matrix, {.block_size = 1}, nodes_together).iterations);
    }
}

KRYLITH_GROUP_TEST("amg: nodes that nobody named are found in symmetric matrices") {
    const auto matrix = make_gallery<double>("elasticity3d:16:6:6");
    const auto a = make_operator(group, matrix); // cuts no node
    const auto r = random_values<double>(matrix.rows, 5);
    const auto applied = [&](const amg<double>& m) {
        const auto from = testing::make_range_vector(a->layout(), r);
        auto z = a->make_range_vector();
        execution run(a->comm(), {});
        m.apply(run, from, z);
        return values_of(z);
    };
    amg<double> found(*a, matrix);
    CHECK(found.options().block_size == 3);
    CHECK(found.near_null_vectors() == 3);
    CHECK(applied(found) == applied(amg<double>(*a, matrix, {.block_size = 3})));
    CHECK(amg<double>(*a, matrix, {.block_size = 1}).near_null_vectors() == 1);
    CHECK(amg<double>(*a, matrix, {.kind = multigrid_kind::unsymmetric}).options().block_size == 1);
    const device_parts<double> parts(group, matrix, a->layout()->rows);
    CHECK(amg<double>(*a, parts.parts()).options().block_size == 3);
    // What is not symmetric has single rows, also where the values before were symmetric.
    auto skew = matrix;
    for (std::int64_t row = 0; row < skew.rows; ++row)
        for (auto k = skew.row_offsets[static_cast<std::size_t>(row)];
             k < skew.row_offsets[static_cast<std::size_t>(row + 1)]; ++k)
            if (skew.column_indices[static_cast<std::size_t>(k)] > row)
                skew.values[static_cast<std::size_t>(k)] *= 0.75;
    const amg<double> single(*a, skew);
    CHECK(single.options().block_size == 1);
    found.update(skew);
    CHECK(found.options().block_size == 1);
    CHECK(applied(found) == applied(single));
}

KRYLITH_GROUP_TEST("amg with rigid body modes: the cycle is symmetric and positive") {
    const char* const spec = "elasticity3d:7:3:2";
    const auto matrix = make_gallery<double>(spec);
    const auto modes = gallery_modes(spec);
    const auto a = make_operator(group, matrix, nodes_together);
    const amg<double> m(
        *a, matrix, {.precision = multigrid_precision::fp64, .block_size = 3, .near_null = modes});
    CHECK(m.near_null_vectors() == 6);
    CHECK(m.options().block_size == 3);
    CHECK(m.options().near_null.empty());
    const auto x = random_values<double>(matrix.rows, 1);
    const auto y = random_values<double>(matrix.rows, 2);
    const auto apply = [&](const std::vector<double>& r) {
        const auto from = testing::make_range_vector(a->layout(), r);
        auto z = a->make_range_vector();
        execution run(a->comm(), {});
        m.apply(run, from, z);
        return values_of(z);
    };
    const auto inner = [](const std::vector<double>& p, const std::vector<double>& q) {
        double sum = 0;
        for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * q[i];
        return sum;
    };
    const auto mx = apply(x);
    CHECK(inner(x, mx) > 0);
    CHECK(std::fabs(inner(y, mx) - inner(x, apply(y))) <= 1e-11 * inner(x, mx));
}

KRYLITH_GROUP_TEST(
    "amg with rigid body modes: fixed rows, and orders, in which nodes are single rows") {
    const char* const spec = "elasticity3d:8:4:4";
    auto matrix = make_gallery<double>(spec);
    const auto modes = gallery_modes(spec);
    const amg_options options{.block_size = 3, .near_null = modes};
    const auto usual = solve_with_amg(group, matrix, options, nodes_together).iterations;
    const auto ordered =
        solve_with_amg(group, matrix, options, {.order = orders::rcm, .block_size = 3});
    CHECK(ordered.iterations <= usual + 6);
    // Every 7th node keeps its first unknown, every 10th is fixed whole.
    const auto fixed = [](std::int64_t row) {
        return (row / 3) % 10 == 4 || ((row / 3) % 7 == 2 && row % 3 == 0);
    };
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k)
            if (row != matrix.column_indices[k] && (fixed(row) || fixed(matrix.column_indices[k])))
                matrix.values[k] = 0;
    CHECK(solve_with_amg(group, matrix, options, nodes_together).iterations <= 20);
}

KRYLITH_GROUP_TEST("amg with rigid body modes: update takes new values") {
    const char* const spec = "elasticity3d:8:4:4";
    const auto matrix = make_gallery<double>(spec);
    auto other = make_gallery<double>("elasticity3d:8:4:4:nu=0.2");
    for (double& value : other.values) value *= 1e5;
    const auto modes = gallery_modes(spec);
    for (const auto reuse :
         {multigrid_reuse::values, multigrid_reuse::transfer, multigrid_reuse::none}) {
        problem<double> p(group, other, random_values<double>(matrix.rows, 9), nodes_together);
        const amg_options options{.reuse = reuse, .block_size = 3, .near_null = modes};
        amg<double> m(*p.a, matrix, options);
        m.update(csr_view<double>(other));
        const amg<double> fresh(*p.a, other, options);
        const auto updated = cg(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
        CHECK(updated.converged());
        CHECK(p.relative_residual() <= 1e-8);

        const auto anew = cg(*p.a, p.b, p.x, {.rtol = 1e-8}, fresh);
        CHECK(std::abs(updated.iterations - anew.iterations) <=
              (reuse == multigrid_reuse::none ? 0 : 1));
    }
}

KRYLITH_GROUP_TEST("amg with near-null vectors of single rows") {
    const auto matrix = make_gallery<double>("poisson2d:30");
    std::vector<double> linear(static_cast<std::size_t>(3 * matrix.rows), 1.0);
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        linear[static_cast<std::size_t>(matrix.rows + i)] = static_cast<double>(i % 30) - 14.5;
        linear[static_cast<std::size_t>(2 * matrix.rows + i)] = static_cast<double>(i) / 30 - 14.5;
    }
    const auto three = solve_with_amg(group, matrix, {.near_null = linear});
    CHECK(three.iterations <= 15);
    // One vector of ones is what amg takes by itself.
    const std::vector<double> ones(static_cast<std::size_t>(matrix.rows), 4.0);
    const auto one = solve_with_amg(group, matrix, {.near_null = ones});
    const auto none = solve_with_amg(group, matrix, {});
    CHECK(one.iterations == none.iterations);
    CHECK(one.levels.back().bound == none.levels.back().bound);
}

KRYLITH_GROUP_TEST("amg with rigid body modes: the program of its header") {
    const auto matrix = make_gallery<double>("elasticity3d:5");
    const std::vector<double> coordinates = gallery_coordinates("elasticity3d:5").values;
    const auto a = make_operator(group, matrix, nodes_together);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(random_values<double>(matrix.rows, 3));
    const std::vector<double> modes = rigid_body_modes(coordinates, 3);
    const amg<double> m(*a, matrix, {.block_size = 3, .near_null = modes});
    CHECK(cg(*a, b, x, {}, m).converged());
}

TEST_CASE("amg refuses near-null vectors and nodes that do not fit") {
    const auto matrix = make_gallery<double>("poisson2d:3");
    const auto a = make_operator(device_group::host(1), matrix);
    const auto refused = [&](const amg_options& options, const char* message) {
        CHECK_THROWS_WITH_AS((void)amg<double>(*a, matrix, options), message, usage_error);
    };
    refused({.block_size = 2}, "amg_options::block_size is 2; allowed are 0, for what the pattern "
                               "shows, and 1 to 12 that divide the number of rows, 9");
    refused({.block_size = -1}, "amg_options::block_size is -1; allowed are 0, for what the "
                                "pattern shows, and 1 to 12 that divide the number of rows, 9");
    std::vector<double> v(10, 1.0);
    refused({.near_null = v},
            "amg_options::near_null has 10 entries; must be those of 1 to 12 vectors of 9 rows");
    v.assign(18, 1.0);
    for (std::size_t i = 9; i < 18; ++i) v[i] = 0;
    refused({.near_null = v}, "amg_options::near_null: vector 1 (counted from 0) is 0");
    v[12] = std::numeric_limits<double>::quiet_NaN();
    refused({.near_null = v}, "amg_options::near_null: entry 3 of vector 1 (counted from 0) is "
                              "nan; it must be finite");
}

} // namespace krylith
