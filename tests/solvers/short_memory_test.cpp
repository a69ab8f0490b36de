// Memory that runs out at each allocation of set-up and solve in turn: the error has the right
// type, nothing is left behind, and the next solve is as the first.
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/column_solver.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::live_bytes;
using testing::method;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::short_memory;

namespace {

/// Runs `action` with the k-th allocation refused, k = 0, 1, ..., until it succeeds. `after` checks
/// the state after every third failure, to save time. Returns the number of failures.
template <class Action, class After>
int exhaust(const device_group& group, const Action& action, const After& after) {
    const auto live = live_bytes(group);
    for (int k = 0;; ++k) {
        CAPTURE(k);
        bool refused = false;
        int asked = 0;
        {
            const short_memory limited(group, k);
            try {
                action();
            } catch (const device_error& e) { // any other type fails the test
                refused = true;
                CHECK(std::string(e.what()).starts_with("refused: "));
            }
            asked = limited.count();
        }
        CHECK(live_bytes(group) == live);
        if (!refused) {
            CHECK(asked == k); // the action succeeded without it: no refusal was swallowed
            return k;
        }
        if (k % 3 == 0) after();
    }
}

/// Groups of one device, three, and three with staged copies, with a thread each: teams would spin
/// most of the time.
std::vector<device_group> few_host_groups() {
    return {device_group::host(1, {.host_threads = 1}), device_group::host(3, {.host_threads = 3}),
            device_group::host(2, {.staged = true, .host_threads = 2})};
}

std::vector<device_group> few_cuda_groups() {
    const auto all = testing::cuda_groups();
    return {all[0], all[2], all.back()};
}

void solves_exhaust(const device_group& group) {
    const auto matrix = poisson2d<double>(3, 3, random_scaling{4});
    const auto b = random_values<double>(matrix.rows, 161);
    for (const auto kind : testing::different_operators())
        for (const auto which : all_methods) {
            if (!testing::worth_running(which, kind)) continue;
            CAPTURE(name_of(kind));
            CAPTURE(name_of(which));
            problem<double> p(group, matrix, b, {.kind = kind});
            const solver_options options{
                .restart = 2, .preconditioning = side::split, .history = true, .unroll = 2};
            const auto expected = p.solve_jacobi(which, options);
            REQUIRE(expected.converged());
            const auto x = p.solution();
            const int failures = exhaust(
                group, [&] { (void)p.solve_jacobi(which, options); },
                [&] {
                    const auto again = p.solve_jacobi(which, options);
                    CHECK(again.iterations == expected.iterations);
                    CHECK(same_bits(p.solution(), x));
                });
            CHECK(failures > 10 * group.size());
        }
}

void setups_exhaust(const device_group& group) {
    const auto matrix = poisson2d<double>(3, 3);
    const auto b = random_values<double>(matrix.rows, 162);
    for (const auto kind :
         {operators::nz, operators::lra_rc, operators::halo, operators::allgather}) {
        CAPTURE(name_of(kind));
        const auto all = [&] {
            problem<double> p(group, matrix, b, {.kind = kind});
            const jacobi<double> m(*p.a, matrix);
            auto domain = p.a->make_domain_vector();
            return p.a->layout()->size();
        };
        const int failures = exhaust(group, all, [&] { CHECK(all() == matrix.rows); });
        CHECK(failures >= 5 * group.size()); // matrix, b, x, the diagonal, the domain vector
    }
    // The extreme system also scales b into a vector of its own.
    auto huge = b;
    for (double& v : huge) v *= 1e300;
    problem<double> p(group, matrix, huge);
    const auto solve = [&] {
        CHECK(p.solve(method::cg, {.unroll = 2}).converged());
        p.a->release_workspace(); // the next begins without one
    };
    exhaust(group, solve, solve);
}

void columns_exhaust(const device_group& group) {
    struct pairing {
        const char* solver;
        const char* m;
        int side; ///< of the grid
    };
    for (const pairing& p : {pairing{"cg", "amg", 5}, pairing{"gmres", "chebyshev:degree=3", 3}}) {
        CAPTURE(p.solver);
        const auto matrix = poisson2d<double>(p.side, p.side, random_scaling{4});
        const auto b = random_values<double>(3 * matrix.rows, 163);
        std::vector<double> x(b.size());
        const auto solve = [&, method = column_method{.solver = p.solver, .preconditioner = p.m}] {
            column_solver<double> columns(group, csr_view<double>(matrix), 3, method,
                                          {.restart = 2, .unroll = 2});
            REQUIRE(columns.one_by_one_because() == "");
            for (const solve_result& result : columns.solve(b, x)) CHECK(result.converged());
        };
        solve();
        const std::vector<double> expected = x;
        const int failures = exhaust(group, solve, [&] {
            solve();
            CHECK(same_bits(x, expected));
        });
        CHECK(failures > 10 * group.size());
    }
}

} // namespace

TEST_CASE("short memory: a solve that fails at any allocation") {
    testing::on_groups(few_host_groups(), solves_exhaust);
}
TEST_CASE("short memory: a solve that fails at any allocation [cuda]") {
    testing::on_groups(few_cuda_groups(), solves_exhaust);
}
TEST_CASE("short memory: several columns that fail at any allocation") {
    testing::on_groups(few_host_groups(), columns_exhaust);
}
TEST_CASE("short memory: several columns that fail at any allocation [cuda]") {
    testing::on_groups(few_cuda_groups(), columns_exhaust);
}
TEST_CASE("short memory: a set-up that fails at any allocation") {
    testing::on_groups(few_host_groups(), setups_exhaust);
}
TEST_CASE("short memory: a set-up that fails at any allocation [cuda]") {
    testing::on_groups(few_cuda_groups(), setups_exhaust);
}

} // namespace krylith
