// Reports of a solve while and after it runs: callbacks, history, bytes, times, exceptions.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::method;
using testing::modes_of;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;

namespace {

problem<double> make_problem(const device_group& group) {
    const auto matrix = poisson2d<double>(17, 13, random_scaling{6});
    return {group, matrix, random_values<double>(matrix.rows, 121)};
}

} // namespace

KRYLITH_GROUP_TEST("callbacks: every k iterations, with the residual of the history") {
    auto p = make_problem(group);
    for (const auto mode : modes_of(group))
        for (const auto which : all_methods)
            for (const int interval : {1, 3, 10}) {
                CAPTURE(name_of(which));
                CAPTURE(interval);
                const int restart = interval == 10 ? 5 : 1;
                solver_options options{
                    .max_iterations = 60, .restart = restart, .history = true, .mode = mode};
                const auto quiet = p.solve(which, options);
                std::vector<progress> seen;
                options.callback = [&](const progress& now) { seen.push_back(now); };
                options.callback_interval = interval;
                const auto result = p.solve(which, options);
                INFO(describe(result));
                CHECK(result.iterations == quiet.iterations);
                CHECK(same_bits(result.history, quiet.history)); // callbacks change no bits
                // The first and the last, and each interval between them.
                const auto between = static_cast<std::size_t>((result.iterations - 1) / interval);
                REQUIRE(seen.size() == between + 2);
                for (std::size_t k = 0; k < seen.size(); ++k) {
                    CHECK(seen[k].iteration == (k > between
                                                    ? result.iterations
                                                    : static_cast<std::int64_t>(k) * interval));
                    const auto at = static_cast<std::size_t>(seen[k].iteration);
                    REQUIRE(at < result.history.size());
                    // GMRES reports the true residual at the end, the history has its estimate.
                    CHECK(seen[k].residual == doctest::Approx(result.history[at]).epsilon(1e-9));
                    CHECK(seen[k].target == doctest::Approx(1e-8 * result.rhs_norm));
                    CHECK(seen[k].rhs_norm == doctest::Approx(result.rhs_norm));
                }
            }
}

KRYLITH_GROUP_TEST("callbacks: one that throws ends the solve; the next one is as the first") {
    auto p = make_problem(group);
    for (const auto mode : modes_of(group))
        for (const auto which : all_methods) {
            CAPTURE(name_of(which));
            solver_options options{.restart = 5, .mode = mode};
            const auto first = p.solve(which, options);
            const auto x = p.solution();
            int calls = 0;
            options.callback_interval = 5;
            options.callback = [&](const progress&) {
                if (++calls == 2) throw std::domain_error("enough");
            };
            CHECK_THROWS_WITH_AS((void)p.solve(which, options), "enough", std::domain_error);
            CHECK(calls == 2);
            options.callback = {};
            const auto again = p.solve(which, options);
            CHECK(again.iterations == first.iterations);
            CHECK(same_bits(p.solution(), x));
        }
}

KRYLITH_GROUP_TEST("history: from ||b|| to the last recurrence residual, and only if asked") {
    auto p = make_problem(group);
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        CHECK(p.solve(which).history.empty());
        const auto result = p.solve(which, {.restart = 20, .history = true});
        REQUIRE(result.history.size() == static_cast<std::size_t>(result.iterations) + 1);
        CHECK(result.history.front() == doctest::Approx(result.rhs_norm));
        CHECK(result.history.back() == doctest::Approx(result.recurrence_residual).epsilon(1e-6));
        CHECK(result.recurrence_residual == doctest::Approx(result.true_residual).epsilon(1e-3));
        CHECK(std::all_of(result.history.begin(), result.history.end(),
                          [](double r) { return r > 0 && std::isfinite(r); }));
        if (which == method::gmres) // it minimises the residual, which never grows
            CHECK(std::is_sorted(result.history.rbegin(), result.history.rend(),
                                 [](double a, double b) { return a < b * (1 - 1e-12); }));
        const auto some = p.solve(which, {.max_iterations = 4, .history = true});
        CHECK(some.history.size() == 5);
        const auto none = p.solve(which, {.max_iterations = 0, .history = true});
        CHECK(none.history.size() == 1);
    }
}

KRYLITH_GROUP_TEST("results: bytes by item on each device, times, figures that agree") {
    auto p = make_problem(group);
    for (const auto which : all_methods) {
        CAPTURE(name_of(which));
        const auto result = p.solve_jacobi(which);
        REQUIRE(result.bytes.size() == static_cast<std::size_t>(group.size()));
        for (const auto& items : result.bytes) {
            for (const char* item : {"matrix", "vectors", "scalars", "preconditioner"}) {
                CAPTURE(item);
                REQUIRE(items.count(item) == 1);
                CHECK(items.at(item) > 0);
            }
            // The solver's vectors are counted with b and x.
            CHECK(items.at("vectors") > 4 * 8 * 17 * 13 / (2 * result.bytes.size()));
        }
        CHECK(result.setup_seconds >= 0);
        CHECK(result.solve_seconds > 0);
        CHECK(result.seconds_per_iteration() ==
              doctest::Approx(result.solve_seconds / static_cast<double>(result.iterations)));
        CHECK(result.diagnosis.empty());
    }
}

KRYLITH_GROUP_TEST("failures: throw_error throws the result, status returns it") {
    auto p = make_problem(group);
    for (const auto which : all_methods) {
        solver_options options{.max_iterations = 3, .on_failure = failure_policy::throw_error};
        try {
            (void)p.solve(which, options);
            FAIL("did not throw");
        } catch (const not_converged& e) {
            CHECK(e.result().reason == reason::max_iterations);
            CHECK(e.result().iterations == 3);
            CHECK(std::string(e.what()).find("max_iterations after 3 iterations") !=
                  std::string::npos);
        }
        options.max_iterations = -1;
        CHECK(p.solve(which, options).converged()); // it converged, so nothing is thrown
    }
}

// Memory of device groups must not grow however often solvers are set up.
static void repeat_setups(const device_group& group, int rounds) {
    const auto matrix = poisson2d<double>(7, 6);
    const auto b = random_values<double>(matrix.rows, 122);
    std::vector<std::size_t> live;
    for (int round = 0; round < rounds; ++round) {
        const auto kind = round % 2 == 0 ? operators::nz : operators::halo;
        {
            problem<double> p(group, matrix, b, {.kind = kind});
            const auto which = all_methods[round % 3];
            CHECK(p.solve_jacobi(which, {.history = round % 5 == 0}).converged());
        }
        group.synchronize();
        for (int rank = 0; rank < group.size(); ++rank) {
            if (round == 0) live.push_back(group[rank].ledger().live());
            CHECK(group[rank].ledger().live() == live[static_cast<std::size_t>(rank)]);
        }
    }
    for (int rank = 0; rank < group.size(); ++rank) CHECK(group[rank].ledger().live() == 0);
}

TEST_CASE("memory: 200 set-ups and solves leave it flat") {
    repeat_setups(device_group::host(2), 200);
}
TEST_CASE("memory: set-ups and solves leave it flat [cuda]") {
    testing::on_groups(testing::cuda_groups(),
                       [](const device_group& group) { repeat_setups(group, 12); });
}

} // namespace krylith
