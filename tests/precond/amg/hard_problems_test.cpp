// Multigrid where coefficients jump or have a direction, unknowns have other units, and beams are
// long: iterations that stay, whatever the size of a jump, and the same hierarchies on any devices.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/solvers/cg.hpp>

#include <krylith/tests/precond/amg_solves.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::amg_solve;
using testing::check_same_hierarchy;
using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::solve_with_amg;

namespace {

/// S A S, the entries of S from 10^-decades/2 to 10^decades/2.
csr_matrix<double> in_other_units(csr_matrix<double> a, double decades) {
    const auto exponents = random_values<double>(a.rows, 21);
    const auto size = [&](std::int64_t i) {
        return std::pow(10.0, decades / 2 * exponents[static_cast<std::size_t>(i)]);
    };
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]); ++k)
            a.values[k] *= size(row) * size(a.column_indices[k]);
    return a;
}

/// The Laplacian of a tree whose vertices are joined to a neighbour of a random one or to that one
/// itself, so that a few have hundreds of neighbours; vertex 0 is held.
csr_matrix<double> tree_with_hubs(std::int64_t n) {
    const auto random = random_values<double>(2 * n, 23);
    std::vector<std::int64_t> parents(static_cast<std::size_t>(n), 0);
    testing::triplets entries{{0, 0, 1.0}};
    for (std::int64_t i = 1; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto other =
            static_cast<std::int64_t>((random[2 * at] + 1) / 2 * static_cast<double>(i));
        const std::int64_t parent =
            random[2 * at + 1] > -0.5 ? parents[static_cast<std::size_t>(other)] : other;
        parents[at] = parent;
        entries.insert(entries.end(),
                       {{i, i, 1.0}, {parent, parent, 1.0}, {i, parent, -1.0}, {parent, i, -1.0}});
    }
    return testing::from_triplets(n, entries);
}

/// The Laplacian of a random graph of about 2 k neighbours a vertex, with couplings of either sign
/// or all negative, and something on its diagonal.
csr_matrix<double> random_network(std::int64_t n, int k, bool either_sign) {
    const auto random = random_values<double>(3 * k * n, 29);
    testing::triplets entries;
    for (std::int64_t edge = 0; edge < k * n; ++edge) {
        const auto at = static_cast<std::size_t>(3 * edge);
        const std::int64_t i = edge / k;
        const auto j = static_cast<std::int64_t>((random[at] + 1) / 2 * static_cast<double>(n - 1));
        const double size = random[at + 1] + 1.1;
        const double coupling = either_sign && random[at + 2] > 0 ? size : -size;
        entries.insert(entries.end(),
                       {{i, i, size}, {j, j, size + 1e-3}, {i, j, coupling}, {j, i, coupling}});
    }
    return testing::from_triplets(n, entries);
}

/// One device needs no more than so many iterations and nonzeros over those of A; the group makes
/// the same hierarchy, whether coarse levels are gathered or not.
void check_solves(const device_group& group, const csr_matrix<double>& matrix,
                  std::int64_t most_iterations, double most_complexity) {
    const amg_solve alone = solve_with_amg(one_device_like(group), matrix, {});
    CHECK(alone.iterations <= most_iterations);
    CHECK(alone.complexity <= most_complexity);
    for (const std::int64_t gathered : {0, 1'000'000}) {
        amg_options options;
        options.gathered_nonzeros = gathered;
        check_same_hierarchy(alone, solve_with_amg(group, matrix, options));
    }
}

} // namespace

KRYLITH_GROUP_TEST(
    "amg: a checkerboard of stiff and soft blocks takes as many iterations, whatever "
    "the jump") {
    for (const double jump : {1e4, 1e6, 1e8}) {
        CAPTURE(jump);
        check_solves(group, jump_diffusion<double>(24, jump, 6), 14, 1.6);
    }
}

KRYLITH_GROUP_TEST("amg: stretched elements, and coefficients with a direction off the axes") {
    for (const auto& c : {std::pair("anisotropic_diffusion:80:0.001", 26),
                          std::pair("anisotropic_diffusion:80:0.001:30", 26),
                          std::pair("anisotropic_diffusion:80:0.001:45", 14),
                          std::pair("anisotropic_diffusion:80:0.01:15", 18)}) {
        CAPTURE(c.first);
        check_solves(group, make_gallery<double>(c.first), c.second, 2.4);
    }
}

KRYLITH_GROUP_TEST("amg: boxes of a grid's points take fewer iterations than other aggregates") {
    for (const char* spec : {"poisson3d:20:17:24", "poisson3d:18:random=3", "poisson2d:70:50",
                             "anisotropic3d:21:0.1"}) {
        CAPTURE(spec);
        const auto matrix = make_gallery<double>(spec);
        const amg_solve others = solve_with_amg(group, matrix, {.aggressive = 1});
        CHECK(others.levels.front().next_rows == "aggregates in pairs");
        check_solves(group, matrix, others.iterations - 1, 1.6);
        const amg_solve boxes = solve_with_amg(group, matrix, {});
        CHECK(boxes.levels.front().next_rows.starts_with("boxes of "));
    }
}

KRYLITH_GROUP_TEST("amg: boxes stay with new values, which may be no grid's any more") {
    const auto matrix = poisson3d<double>(14, 13, 12);
    auto other = matrix; // of another scale, and a coefficient that jumps
    for (std::int64_t row = 0; row < other.rows; ++row)
        for (auto k = static_cast<std::size_t>(other.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(other.row_offsets[static_cast<std::size_t>(row) + 1]);
             ++k)
            if (row < 700 && other.column_indices[k] < 700) other.values[k] *= 50;
    for (const auto reuse : {multigrid_reuse::transfer, multigrid_reuse::values}) {
        CAPTURE(static_cast<int>(reuse));
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 22));
        amg<double> m(*p.a, matrix, {.reuse = reuse});
        for (const bool jumps : {true, false, true}) {
            const csr_matrix<double>& now = jumps ? other : matrix;
            m.update(now);
            CHECK(m.levels().front().next_rows == "boxes of 2 x 2 x 2");
            p.a->update(now.values);
            p.x.upload(std::vector<double>(static_cast<std::size_t>(now.rows)));
            const auto result = cg(*p.a, p.b, p.x, {.rtol = 1e-8}, m);
            INFO(testing::describe(result));
            CHECK(result.converged());
            CHECK(result.iterations <= 30);
        }
    }
}

KRYLITH_GROUP_TEST("amg: a grid whose diagonal is large is none of boxes") {
    for (const double shift : {10.0, 100.0, 1e4}) {
        CAPTURE(shift);
        auto matrix = poisson3d<double>(12, 11, 10);
        for (double& value : matrix.values)
            if (value > 0) value += shift;
        check_solves(group, matrix, 8, 1.6);
    }
}

KRYLITH_GROUP_TEST("amg: fp64 is taken where fp32 would lose what is soft, and update() follows") {
    const auto smooth = jump_diffusion<double>(12, 1, 4);
    const auto stiff = jump_diffusion<double>(12, 1e7, 4);
    problem<double> p(group, smooth, random_values<double>(smooth.rows, 22));
    amg<double> m(*p.a, smooth);
    CHECK(m.options().precision == multigrid_precision::fp32);
    CHECK(m.name().find("fp64") == std::string::npos);
    problem<double> q(group, stiff, random_values<double>(stiff.rows, 22));
    const amg<double> fresh(*q.a, stiff);
    CHECK(fresh.options().precision == multigrid_precision::fp64);
    CHECK(fresh.name().find("precision=fp64") != std::string::npos);
    const auto expected = cg(*q.a, q.b, q.x, {}, fresh);
    CHECK(expected.converged());
    m.update(stiff);
    p.a->update(stiff.values);
    const auto result = cg(*p.a, p.b, p.x, {}, m);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(result.iterations <= expected.iterations + 3);
}

KRYLITH_GROUP_TEST("amg: other units of the unknowns change little") {
    const auto matrix = poisson3d<double>(16, 16, 16);
    const std::int64_t usual = solve_with_amg(one_device_like(group), matrix, {}).iterations;
    for (const double decades : {1.0, 6.0}) {
        CAPTURE(decades);
        const auto scaled = in_other_units(matrix, decades);
        const amg_solve alone = solve_with_amg(one_device_like(group), scaled, {});
        CHECK(alone.iterations <= usual + 5);
        CHECK(alone.levels.front().bound <= 2.1);
        check_same_hierarchy(alone, solve_with_amg(group, scaled, {}));
    }
}

KRYLITH_GROUP_TEST("amg: a threshold that leaves no row a neighbour is lowered") {
    const amg_solve solve = solve_with_amg(group, poisson3d<double>(12, 12, 12), {.theta = 0.25});
    CHECK(solve.levels.size() > 1);
    CHECK(solve.iterations <= 14);
}

KRYLITH_GROUP_TEST("amg: a network with hubs has P = T where coarse matrices would fill up") {
    const auto matrix = tree_with_hubs(8000);
    const amg_solve alone = solve_with_amg(one_device_like(group), matrix, {});
    CHECK(alone.levels.size() > 1);
    CHECK(alone.complexity <= 3);
    CHECK(alone.iterations <= 40);
    check_same_hierarchy(alone, solve_with_amg(group, matrix, {}));
}

KRYLITH_GROUP_TEST("amg: a network without locality has no coarse level, which it would not need") {
    for (const bool either_sign : {false, true}) {
        CAPTURE(either_sign);
        const auto matrix = random_network(4000, either_sign ? 16 : 8, either_sign);
        const amg_solve solve = solve_with_amg(group, matrix, {});
        REQUIRE(solve.levels.size() == 1);
        CHECK(solve.levels[0].why_last.starts_with("coarse matrices fill up: P has"));
        CHECK(solve.iterations <= 20);
    }
}

/// The Laplacian of a ring whose first vertices, up to `end`, are joined at random, too, by edges
/// of so much weight, with something on its diagonal.
csr_matrix<double> ring_with_chords(std::int64_t n, std::int64_t end, double weight) {
    constexpr std::int64_t chords = 16; // a vertex
    const auto random = random_values<double>(chords * end, 37);
    testing::triplets entries;
    const auto join = [&](std::int64_t i, std::int64_t j, double size) {
        entries.insert(entries.end(), {{i, i, size}, {j, j, size}, {i, j, -size}, {j, i, -size}});
    };
    for (std::int64_t i = 0; i < n; ++i) {
        entries.emplace_back(i, i, 1e-6);
        join(i, (i + 1) % n, 1);
    }
    for (std::int64_t k = 0; k < chords * end; ++k)
        join(k / chords,
             static_cast<std::int64_t>((random[static_cast<std::size_t>(k)] + 1) / 2 *
                                       static_cast<double>(end - 1)),
             weight);
    return testing::from_triplets(n, entries);
}

KRYLITH_GROUP_TEST("amg: a few rows that relaxation does not reach have coarse levels") {
    CHECK(solve_with_amg(group, ring_with_chords(4000, 4000, 1), {}).levels.size() == 1);
    const amg_solve mixed = solve_with_amg(group, ring_with_chords(4000, 3800, 1), {});
    CHECK(mixed.levels.size() > 1);
    CHECK(mixed.iterations <= 30);
}

KRYLITH_GROUP_TEST("amg: values that need coarse levels get them by an update") {
    const auto easy = ring_with_chords(3000, 3000, 1);
    const auto hard = ring_with_chords(3000, 3000, 1e-6);
    for (const auto reuse : {multigrid_reuse::automatic, multigrid_reuse::transfer}) {
        problem<double> p(group, easy, random_values<double>(easy.rows, 11));
        amg<double> m(*p.a, easy, {.reuse = reuse});
        CHECK(m.levels().size() == 1);
        m.update(csr_view<double>(easy));
        CHECK(m.levels().size() == 1);
        m.update(csr_view<double>(hard));
        CHECK(m.levels().size() > 1);
        p.a->update(hard.values);
        CHECK(cg(*p.a, p.b, p.x, {}, m).iterations ==
              solve_with_amg(group, hard, {.reuse = reuse}).iterations);
    }
}

KRYLITH_GROUP_TEST("amg: a beam that is four times as long takes fewer than twice the iterations") {
    std::vector<std::int64_t> iterations;
    for (const std::int64_t length : {20, 80}) {
        const std::string name = "elasticity3d:" + std::to_string(length) + ":3:3";
        const auto matrix = make_gallery<double>(name);
        const node_coordinates nodes = gallery_coordinates(name);
        const std::vector<double> modes = rigid_body_modes(nodes.values, nodes.dimension);
        amg_options options;
        options.block_size = 3;
        options.near_null = modes;
        iterations.push_back(solve_with_amg(group, matrix, options, {.block_size = 3}).iterations);
    }
    CHECK(iterations[1] < 2 * iterations[0]);
}

// A beam's softest modes lie at 1e-8 of its stiffest: in fp32 the coarse matrices are indefinite.
KRYLITH_GROUP_TEST("amg: fp64 is taken for a thin beam") {
    const std::string name = "elasticity3d:100:1:1";
    const auto matrix = make_gallery<double>(name);
    const std::vector<double> modes = rigid_body_modes(gallery_coordinates(name).values, 3);
    amg_options options;
    options.block_size = 3;
    options.near_null = modes;
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 22), {.block_size = 3});
    amg<double> m(*p.a, matrix, options);
    CHECK(m.options().precision == multigrid_precision::fp64);
    const auto result = cg(*p.a, p.b, p.x, {}, m);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(result.iterations <= 60);
    m.update(matrix);
    CHECK(m.options().precision == multigrid_precision::fp64);
}

} // namespace krylith
