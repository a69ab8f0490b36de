// solve() with the matrix in host memory: what it is told of nodes, multigrid for matrices that are
// not symmetric, fsai, and attempts for which no time is left.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/rigid_body_modes.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/spmv/operator_facts.hpp>

#include <krylith/tests/solvers/automatic/attempts.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::laplace_1d;
using testing::problem;
using testing::random_values;
using testing::rotations;
using testing::tried;

// A thin beam: CG with Jacobi takes twice the iterations that it has before multigrid, and
// multigrid takes thousands without the rigid body modes.
KRYLITH_GROUP_TEST("auto: near-null vectors go to multigrid, and other ones make it anew") {
    const auto matrix = make_gallery<double>("elasticity3d:100:1:1");
    const auto coordinates = gallery_coordinates("elasticity3d:100:1:1");
    const std::vector<double> modes = rigid_body_modes(coordinates.values, 3);
    const matrix_nodes beam{.block_size = 3, .near_null = modes};
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 315), {.block_size = 3});
    const auto first = solve(*p.a, matrix, p.b, p.x, {}, beam);
    INFO(testing::describe(first));
    CHECK(first.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    REQUIRE(first.attempts.size() == 2);
    CHECK(first.attempts[0].preconditioner == "jacobi");
    CHECK(first.attempts[1].preconditioner.ends_with(":block_size=3"));
    const auto kept = p.a->kept().preconditioner;
    const auto second = solve(*p.a, matrix, p.b, p.x, {}, beam);
    CHECK(tried(second) == first.attempts[1].solver + "+" + first.attempts[1].preconditioner);
    CHECK(p.a->kept().preconditioner == kept);
    const std::vector<double> copy = modes;
    const auto third = solve(*p.a, matrix, p.b, p.x, {}, {.block_size = 3, .near_null = copy});
    CHECK(tried(third) == tried(first));
    CHECK(p.a->kept().preconditioner != kept);
    const auto without = solve(*p.a, matrix, p.b, p.x);
    REQUIRE(without.attempts.size() >= 2);
    CHECK(without.attempts[1].preconditioner.ends_with(":block_size=3")); // found
    CHECK(without.attempts[1].iterations > first.attempts[1].iterations);
}

KRYLITH_GROUP_TEST("auto: nodes from arrays in host memory, and those that don't suit the matrix") {
    const auto matrix = make_gallery<double>("elasticity3d:100:1:1");
    const auto coordinates = gallery_coordinates("elasticity3d:100:1:1");
    const std::vector<double> modes = rigid_body_modes(coordinates.values, 3);
    const auto b = random_values<double>(matrix.rows, 315);
    std::vector<double> x(b.size());
    const auto result = solve(group, matrix, b, x, {}, {.block_size = 3, .near_null = modes});
    CHECK(result.converged());
    CHECK(result.attempts.back().preconditioner.ends_with(":block_size=3"));
    CHECK(testing::residual_norm(matrix, b, x) <= 1.01e-8 * testing::norm(b));
    CHECK_THROWS_WITH_AS((void)solve(group, matrix, b, x, {}, {.block_size = 7}),
                         doctest::Contains("matrix_nodes::block_size is 7"), usage_error);
    problem<double> p(group, laplace_1d(10), std::vector<double>(10, 1));
    CHECK_THROWS_AS((void)solve(*p.a, laplace_1d(10), p.b, p.x, {}, {.near_null = modes}),
                    usage_error);
    CHECK_THROWS_WITH_AS((void)solve(*p.a, matrix, p.b, p.x),
                         doctest::Contains("for an operator of 10 x 10"), usage_error);
}

/// One dimension of convection with diffusion: BiCGStab takes more iterations than it has.
csr_matrix<double> long_channel(std::int64_t n) {
    testing::triplets entries;
    for (std::int64_t i = 0; i < n; ++i) {
        entries.emplace_back(i, i, 2.001);
        if (i > 0) entries.emplace_back(i, i - 1, -1.001);
        if (i + 1 < n) entries.emplace_back(i, i + 1, -1.0);
    }
    return testing::from_triplets(n, entries);
}

KRYLITH_GROUP_TEST("auto: multigrid of the unsymmetric kind where bicgstab takes too long") {
    const auto matrix = long_channel(4000);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 316));
    const auto result = solve(*p.a, matrix, p.b, p.x);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    REQUIRE(result.attempts.size() == 2);
    CHECK(result.attempts[0].solver == "bicgstab");
    CHECK(result.attempts[1].preconditioner.find("kind=unsymmetric") != std::string::npos);
    CHECK(result.attempts[1].because == "in case that takes too long");
    const auto again = solve(*p.a, matrix, p.b, p.x);
    REQUIRE(again.attempts.size() == 1);
    // The second attempt began with the x of the first one.
    CHECK(std::abs(again.iterations - result.iterations) <= 1);
}

KRYLITH_GROUP_TEST("auto: where multigrid of that kind can't be made the next method goes on") {
    const auto matrix = long_channel(4000);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 317));
    (void)facts_of(*p.a);
    std::atomic<bool> refused = false; // each device's thread asks
    for (int rank = 0; rank < group.size(); ++rank)
        p.a->comm()[rank].ledger().set_guard(
            [&refused](const std::string& item, std::size_t, std::size_t) {
                if (item == "preconditioner" && !refused.exchange(true))
                    throw device_error("refused: " + item);
            });
    const auto result = solve(*p.a, matrix, p.b, p.x);
    for (int rank = 0; rank < group.size(); ++rank) p.a->comm()[rank].ledger().set_guard({});
    INFO(testing::describe(result));
    CHECK(result.converged());
    REQUIRE(result.attempts.size() >= 3);
    CHECK(result.attempts[1].preconditioner == "amg");
    CHECK(result.attempts[1].refused == "refused: preconditioner");
    CHECK(result.attempts[2].preconditioner.starts_with("ilu0"));
}

/// Makes the first allocation of a preconditioner on the first device take a second and more.
void delay(const device_group& group) {
    auto slept = std::make_shared<std::atomic<bool>>(false);
    group[0].ledger().set_guard([slept](const std::string& item, std::size_t, std::size_t) {
        if (item == "preconditioner" && !slept->exchange(true))
            std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    });
}

KRYLITH_GROUP_TEST("auto: no attempt begins without time, and what took it is said") {
    const auto uneven = poisson2d<double>(14, 13, random_scaling{5});
    problem<double> p(group, uneven, random_values<double>(uneven.rows, 318));
    (void)facts_of(*p.a);
    delay(p.a->comm().devices());
    const auto late = solve(*p.a, p.b, p.x, {.max_seconds = 1});
    p.a->comm()[0].ledger().set_guard({});
    INFO(testing::describe(late));
    CHECK(late.reason == reason::time_limit);
    REQUIRE(late.attempts.size() == 1);
    CHECK(late.attempts[0].refused.starts_with(
        "max_seconds is 1, and no time was left for cg with jacobi, whose set-up took "));
    CHECK(late.diagnosis == late.attempts[0].refused);
    CHECK(late.iterations == 0);
    CHECK(late.relative_residual() == doctest::Approx(1));
    CHECK(solve(*p.a, p.b, p.x).converged());
    p.a->release_workspace();
    const auto none = solve(*p.a, p.b, p.x, {.max_seconds = 0}); // not even the first M is made
    REQUIRE(none.attempts.size() == 1);
    CHECK(none.reason == reason::time_limit);
    CHECK(none.attempts[0].refused == "max_seconds is 0, and no time was left for cg with jacobi");
    problem<double> zero(group, uneven, std::vector<double>(182));
    CHECK(solve(*zero.a, zero.b, zero.x, {.max_seconds = 0}).converged());
}

KRYLITH_GROUP_TEST("auto: set-up ends where the time is over, or a stop is requested") {
    const auto matrix = poisson2d<double>(320);
    const std::vector<double> ones(static_cast<std::size_t>(matrix.rows), 1.0);
    const matrix_nodes nodes{.block_size = 1, .near_null = ones}; // with which amg is the first
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 320));
    std::atomic<int> asked = 0;
    {
        const interruption never([&] { return ++asked < 0; });
        CHECK(solve(*p.a, matrix, p.b, p.x, {}, nodes).converged());
    }
    const int all = asked.exchange(0);
    p.a->release_workspace();
    const auto late = [&] {
        const interruption never([&] { return ++asked < 0; });
        return solve(*p.a, matrix, p.b, p.x, {.max_seconds = 0.001}, nodes);
    }();
    CHECK(2 * asked < all); // it ended on the way
    INFO(testing::describe(late));
    CHECK(late.reason == reason::time_limit);
    REQUIRE(late.attempts.size() == 1);
    CHECK(late.attempts[0].preconditioner == "amg");
    CHECK(late.attempts[0].refused.starts_with("max_seconds is 0.001, and no time was left for "));
    CHECK(late.iterations == 0);
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = solve(*p.a, matrix, p.b, p.x, {.stop = stop.get_token()}, nodes);
    INFO(testing::describe(stopped));
    CHECK(stopped.reason == reason::interrupted);
    REQUIRE(stopped.attempts.size() == 1);
    CHECK(
        stopped.attempts[0].refused.starts_with("a stop was requested before cg with amg, whose"));
    // An interruption of the caller's own leaves as an exception.
    const interruption mine([] { return true; });
    CHECK_THROWS_AS((void)solve(*p.a, matrix, p.b, p.x, {}, nodes), interrupted_error);
}

// BiCGStab breaks down at once.
KRYLITH_GROUP_TEST("auto: where the next method's set-up takes the time, the best x is returned") {
    const auto matrix = rotations(20);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 319));
    (void)facts_of(*p.a);
    delay(p.a->comm().devices());
    const auto late = solve(*p.a, matrix, p.b, p.x, {.max_seconds = 1});
    p.a->comm()[0].ledger().set_guard({});
    INFO(testing::describe(late));
    CHECK(late.reason == reason::time_limit);
    REQUIRE(late.attempts.size() == 2);
    CHECK(late.attempts[0].solver == "bicgstab");
    CHECK(late.attempts[1].preconditioner == "ilut");
    CHECK(late.attempts[1].refused.starts_with("max_seconds is 1, and no time was left for gmres"));
    CHECK(late.best_attempt() == late.attempts.data());
    CHECK(p.relative_residual() == doctest::Approx(late.relative_residual()).epsilon(1e-6));
}

/// Turns the signs of some unknowns of a beam round, which multigrid is not told of.
csr_matrix<double> turned(csr_matrix<double> matrix) {
    const auto sign = [](std::int64_t i) { return i % 3 == 0 || i % 7 == 0 ? -1.0 : 1.0; };
    for (std::int64_t i = 0; i < matrix.rows; ++i)
        for (auto k = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i) + 1]); ++k)
            matrix.values[k] *= sign(i) * sign(matrix.column_indices[k]);
    return matrix;
}

KRYLITH_GROUP_TEST("auto: fsai where cg with multigrid takes too long, too") {
    const auto matrix = turned(make_gallery<double>("elasticity3d:100:1:1"));
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 315));
    const auto result = solve(*p.a, matrix, p.b, p.x);
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1.01e-8);
    REQUIRE(result.attempts.size() == 4);
    CHECK(result.attempts[1].preconditioner.starts_with("amg"));
    CHECK(result.attempts[1].reason == reason::max_iterations);
    CHECK(result.attempts[1].iterations < 300); // half-way to 500
    CHECK(result.attempts[2].because == "in case amg was too weak");
    CHECK(result.attempts[2].preconditioner.ends_with(":coarsening=classical"));
    CHECK(result.attempts[3].preconditioner.starts_with("fsai"));
}

} // namespace krylith
