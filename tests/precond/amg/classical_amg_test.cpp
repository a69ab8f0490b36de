// Multigrid by classical coarsening: where it is taken, what it brings, and what it is not for.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/cg.hpp>

#include <krylith/tests/precond/amg_solves.hpp>
#include <krylith/tests/precond/applied.hpp>
#include <krylith/tests/precond/coarsening/coarse_spaces.hpp>
#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::amg_solve;
using testing::applied;
using testing::check_same_hierarchy;
using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::solve_with_amg;
using testing::to_eigen;

namespace {

/// A network: a grid whose edges have weights from 1e-3 to 1e3.
csr_matrix<double> network(std::int64_t n) {
    const auto draws = random_values<double>(2 * n * n, 21); // in [-1, 1)
    testing::triplets entries;
    std::vector<double> sum(testing::at(n * n), 1e-6);
    const auto join = [&](std::int64_t i, std::int64_t j, std::int64_t draw) {
        const double weight = std::pow(10, 3 * draws[testing::at(draw)]);
        entries.emplace_back(i, j, -weight);
        entries.emplace_back(j, i, -weight);
        sum[testing::at(i)] += weight;
        sum[testing::at(j)] += weight;
    };
    for (std::int64_t i = 0; i < n * n; ++i) {
        if (i % n + 1 < n) join(i, i + 1, 2 * i);
        if (i + n < n * n) join(i, i + n, 2 * i + 1);
    }
    for (std::int64_t i = 0; i < n * n; ++i) entries.emplace_back(i, i, sum[testing::at(i)]);
    return testing::from_triplets(n * n, entries);
}

/// A grid in which every third unknown hangs between its neighbours by a thousand times the weight,
/// as the middle vertices of slivers do.
csr_matrix<double> grid_with_slivers(std::int64_t n) {
    const auto where = random_values<double>(n * n, 31);
    testing::triplets entries;
    const csr_matrix<double> grid = make_gallery<double>("poisson2d:" + std::to_string(n));
    for (std::int64_t i = 0; i < grid.rows; ++i)
        for (auto k = testing::at(grid.row_offsets[testing::at(i)]);
             k < testing::at(grid.row_offsets[testing::at(i + 1)]); ++k)
            entries.emplace_back(i, grid.column_indices[k], grid.values[k]);
    for (std::int64_t i = 0; i + 2 < grid.rows; i += 3) {
        const double t = 0.5 + 0.2 * where[testing::at(i)];
        const double weights[] = {t, -1, 1 - t};
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                entries.emplace_back(i + j, i + k, 1e3 * weights[j] * weights[k]);
    }
    return testing::from_triplets(grid.rows, entries);
}

constexpr amg_options by_aggregation{.coarsening = multigrid_coarsening::aggregation};
constexpr amg_options by_classical{.coarsening = multigrid_coarsening::classical};

} // namespace

KRYLITH_GROUP_TEST("classical amg: few iterations on rough matrices, the same on any devices") {
    struct goal {
        const char* name;
        csr_matrix<double> matrix;
        std::int64_t most;
        double complexity;
    };
    const goal goals[] = {
        {"cells", make_gallery<double>("rough_diffusion:20:1e6"), 20, 2.8},
        {"a network", network(70), 20, 2.8},
        {"jumps", make_gallery<double>("jump_diffusion:20:1e6:5"), 14, 2.8},
        {"a grid", make_gallery<double>("poisson3d:20"), 12, 2.8},
    };
    for (const goal& g : goals) {
        CAPTURE(std::string(g.name));
        const amg_solve alone = solve_with_amg(one_device_like(group), g.matrix, by_classical);
        CHECK(alone.iterations <= g.most);
        CHECK(alone.complexity <= g.complexity);
        for (const std::int64_t gathered : {0, 10'000, 1'000'000}) {
            CAPTURE(gathered);
            amg_options options = by_classical;
            options.gathered_nonzeros = gathered;
            check_same_hierarchy(alone, solve_with_amg(group, g.matrix, options));
        }
    }
}

KRYLITH_GROUP_TEST("classical amg: it is taken where rows are rough or jumps everywhere") {
    const auto taken = [&](const csr_matrix<double>& matrix) {
        const auto a = make_operator(group, matrix);
        const amg<double> m(*a, matrix);
        const auto kind = m.options().coarsening;
        CHECK(kind != multigrid_coarsening::automatic);
        const bool classical = kind == multigrid_coarsening::classical;
        CHECK((m.name().find(":coarsening=classical") != std::string::npos) == classical);
        return classical;
    };
    for (const char* const name :
         {"poisson2d:40", "poisson3d:14", "poisson3d:14:random=2", "poisson3d_27point:10",
          "anisotropic3d:14:0.1", "anisotropic_diffusion:30:0.001:30", "jump_diffusion:16:1e4:8",
          "jump_diffusion:16:1e6:4:seed=3", "elasticity3d:6", "convection_diffusion:12:10"}) {
        CAPTURE(name);
        CHECK_FALSE(taken(make_gallery<double>(name)));
    }
    const auto rough = make_gallery<double>("rough_diffusion:16:1e6");
    CHECK(taken(rough));
    CHECK(taken(network(40)));
    CHECK(taken(make_gallery<double>("jump_diffusion:16:1e6:1:seed=3")));
    CHECK(taken(make_gallery<double>("jump_diffusion:16:1e2:2:seed=3")));
    amg_options few = {};
    few.max_levels = 2; // a reason to end that has nothing to do with it
    CHECK(amg<double>(*make_operator(group, rough), rough, few).options().coarsening ==
          multigrid_coarsening::classical);
    // Where it is, it takes less than half of the iterations.
    CHECK(2 * solve_with_amg(group, network(70), {}).iterations <
          solve_with_amg(group, network(70), by_aggregation).iterations);
}

KRYLITH_GROUP_TEST("classical amg: the ends of slivers are coarse, not their middles") {
    CHECK(solve_with_amg(group, grid_with_slivers(40), by_classical).iterations <= 15);
}

KRYLITH_GROUP_TEST("classical amg: the cycle is symmetric and positive, with fp32 and fp64") {
    const auto matrix = network(20);
    const auto a = make_operator(group, matrix);
    for (const auto precision : {multigrid_precision::fp64, multigrid_precision::fp32}) {
        amg_options options = by_classical;
        options.precision = precision;
        const amg<double> m(*a, matrix, options);
        const auto x = random_values<double>(matrix.rows, 1);
        const auto y = random_values<double>(matrix.rows, 2);
        const auto mx = applied(*a, m, x);
        const auto my = applied(*a, m, y);
        const double size = to_eigen(x).dot(to_eigen(mx));
        CHECK(size > 0);
        CHECK(std::fabs(to_eigen(y).dot(to_eigen(mx)) - to_eigen(x).dot(to_eigen(my))) <=
              (precision == multigrid_precision::fp64 ? 1e-11 : 1e-5) * size);
    }
}

KRYLITH_GROUP_TEST("classical amg: new values give what a new hierarchy would") {
    const auto matrix = make_gallery<double>("rough_diffusion:14:1e4");
    auto changed = matrix;
    for (double& v : changed.values) v *= 3;
    const auto a = make_operator(group, matrix);
    const auto r = random_values<double>(matrix.rows, 6);
    for (const auto reuse : {multigrid_reuse::transfer, multigrid_reuse::values}) {
        CAPTURE(static_cast<int>(reuse));
        const amg_options options{.reuse = reuse};
        amg<double> m(*a, matrix, options);
        CHECK(m.options().coarsening == multigrid_coarsening::classical);
        m.update(csr_view<double>(changed));
        const auto expected = applied(*a, amg<double>(*a, changed, options), r);
        const auto found = applied(*a, m, r);
        if (reuse == multigrid_reuse::transfer)
            CHECK(same_bits(found, expected));
        else
            CHECK((to_eigen(found) - to_eigen(expected)).norm() <=
                  1e-3 * to_eigen(expected).norm());
    }
    // A matrix of the same pattern that is not rough any more: a rebuild looks again.
    amg<double> m(*a, matrix);
    const auto smooth = make_gallery<double>("poisson3d:14");
    m.solved(10);
    m.solved(100);
    CHECK(m.rebuild_due());
    m.update(csr_view<double>(smooth));
    CHECK(m.options().coarsening == multigrid_coarsening::aggregation);
}

KRYLITH_GROUP_TEST("classical amg: hubs don't fill up the prolongation before it is cut") {
    const auto matrix = testing::two_hubs(3000);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 8));
    for (int rank = 0; rank < group.size(); ++rank)
        group[rank].ledger().set_guard([&](const std::string&, std::size_t bytes, std::size_t) {
            if (bytes > std::size_t{20'000'000}) throw device_error("a large array");
        });
    const amg<double> m(*p.a, matrix, by_classical);
    for (int rank = 0; rank < group.size(); ++rank) group[rank].ledger().set_guard({});
    CHECK(m.bytes() < 100 * matrix.nnz());
    CHECK(cg(*p.a, p.b, p.x, {}, m).converged());
}

KRYLITH_GROUP_TEST(
    "classical amg: where it fills up, and was not asked for, aggregation stands in") {
    // A random graph with weights of all sizes.
    auto matrix = make_gallery<double>("random_spd:9000:11:1");
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        double sum = 1e-3;
        std::int64_t own = 0;
        for (std::int64_t k = matrix.row_offsets[testing::at(i)];
             k < matrix.row_offsets[testing::at(i) + 1]; ++k) {
            const std::int64_t j = matrix.column_indices[testing::at(k)];
            if (j == i) {
                own = k;
                continue;
            }
            const auto low = static_cast<double>(std::min(i, j));
            const double weight = std::exp(6 * std::sin(12.9 * low + 7.8 * double(std::max(i, j))));
            matrix.values[testing::at(k)] = -weight;
            sum += weight;
        }
        matrix.values[testing::at(own)] = sum;
    }
    const auto a = make_operator(group, matrix);
    const amg<double> asked(*a, matrix, by_classical);
    REQUIRE_FALSE(asked.levels().back().why_last.empty());
    const amg<double> m(*a, matrix);
    CHECK(m.options().coarsening == multigrid_coarsening::aggregation);
}

KRYLITH_GROUP_TEST("classical amg: in any units") {
    const auto matrix = network(30);
    const auto usual = solve_with_amg(group, matrix, by_classical);
    for (const double scale : {1e-200, 1e-60, 1e60, 1e200}) {
        CAPTURE(scale);
        auto scaled = matrix;
        for (double& v : scaled.values) v *= scale;
        const auto a = make_operator(group, scaled);
        const amg<double> m(*a, scaled, by_classical);
        CHECK(m.levels().size() == usual.levels.size());
    }
}

TEST_CASE("classical amg: what it is not for is refused with what is allowed") {
    const auto group = device_group::host(2);
    const auto refuses = [&](const char* name, amg_options options, const char* words) {
        const auto matrix = make_gallery<double>(name);
        const auto a =
            make_operator(group, matrix, {.block_size = std::max(1, options.block_size)});
        CHECK_THROWS_WITH_AS((amg<double>(*a, matrix, options)), doctest::Contains(words),
                             usage_error);
    };
    refuses("convection_diffusion:6:10", by_classical, "for the unsymmetric kind");
    amg_options nodes = by_classical;
    nodes.block_size = 3;
    refuses("elasticity3d:4", nodes,
            "for nodes of 3 rows and 3 near-null vectors; allowed is 1 of each (block_size=1");
    amg_options threshold = by_classical;
    threshold.strong_threshold = 0;
    refuses("poisson3d:4", threshold, "strong_threshold is 0; allowed is 0.01 to 1");
    const auto matrix = make_gallery<double>("poisson3d:6");
    const auto a = make_operator(group, matrix);
    const std::string text = "amg:coarsening=classical:strong_threshold=0.5";
    const auto m = make_preconditioner(text, *a, csr_view<double>(matrix));
    CHECK(m.name() == "amg:theta=0.02:degree=2:cycle=v:coarsening=classical:strong_threshold=0.5");
    CHECK_THROWS_WITH_AS(
        (void)make_preconditioner("amg:coarsening=pmis", *a, csr_view<double>(matrix)),
        doctest::Contains("coarsening=pmis is not allowed: allowed is auto|aggregation|classical"),
        usage_error);
}

} // namespace krylith
