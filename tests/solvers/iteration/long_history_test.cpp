// Histories of more iterations than the devices record.
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/iteration/mocked_history.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::method;
using testing::problem;

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

void check_outgrown(const device_group& group) {
    // CG needs about as many iterations as there are rows.
    problem<double> p(group, poisson1d<double>(1100), testing::random_values<double>(1100, 322));
    for (const auto mode : {execution_mode::automatic, execution_mode::eager})
        for (const bool pauses : {false, true}) {
            std::vector<std::int64_t> told;
            const solver_options usual{.rtol = 1e-10,
                                       .max_iterations = 6000,
                                       .history = true,
                                       .callback =
                                           [&](const progress& now) {
                                               told.push_back(now.iteration);
                                               CHECK(now.residual > 0);
                                           },
                                       .callback_interval = 400,
                                       .callback_pauses = pauses,
                                       .mode = mode};
            const auto wanted = p.solve(method::cg_launched, usual);
            REQUIRE(wanted.converged());
            REQUIRE(wanted.iterations > 1024); // else the test would show nothing
            const auto told_before = std::exchange(told, {});
            const mocked_history few(1024);
            solver_options huge = usual;
            huge.max_iterations = unlimited;
            const auto got = p.solve(method::cg_launched, huge);
            CHECK(got.iterations == wanted.iterations);
            CHECK(got.history == wanted.history);
            REQUIRE(got.spectrum.has_value());
            CHECK(got.spectrum->condition() == wanted.spectrum->condition());
            CHECK(told == told_before);
            huge.callback = {};
            CHECK(p.solve(method::cg, huge).history.size() ==
                  static_cast<std::size_t>(wanted.iterations) + 1);
        }
    const mocked_history few(1024);
    const solver_options cycles{
        .rtol = 1e-12, .max_iterations = 3000, .restart = 7, .history = true};
    const auto restarted = p.solve(method::gmres, cycles);
    CHECK(restarted.history.size() == static_cast<std::size_t>(restarted.iterations) + 1);
    CHECK(restarted.iterations > 1024);
    for (std::size_t i = 1; i < restarted.history.size(); ++i) {
        REQUIRE(restarted.history[i] <= restarted.history[i - 1] * (1 + 1e-8));
        REQUIRE(restarted.history[i] > 0);
    }
}

} // namespace

KRYLITH_GROUP_TEST("history: a limit that no memory holds is as good as one that is not reached") {
    problem<double> p(group, poisson1d<double>(60), testing::random_values<double>(60, 321));
    for (const method s : {method::cg, method::gmres, method::bicgstab, method::minres}) {
        CAPTURE(to_string(s));
        const solver_options usual{.rtol = 1e-9, .max_iterations = 5000, .history = true};
        solver_options huge = usual;
        huge.max_iterations = unlimited;
        const auto wanted = p.solve(s, usual);
        const auto got = p.solve(s, huge);
        CHECK(got.iterations == wanted.iterations);
        CHECK(got.history.size() == static_cast<std::size_t>(got.iterations) + 1);
        CHECK(got.history == wanted.history);
        CHECK(got.spectrum.has_value() == wanted.spectrum.has_value());
        if (got.spectrum && wanted.spectrum)
            CHECK(got.spectrum->condition() == wanted.spectrum->condition());
    }
}

TEST_CASE("history: a solve that outgrows what devices record has all of it") {
    // Thousands of iterations of more threads than cores would take minutes.
    for (const int devices : {1, 2}) check_outgrown(device_group::host(devices));
}

TEST_CASE("history: a solve that outgrows what devices record has all of it [cuda]") {
    testing::on_groups(testing::cuda_groups(), check_outgrown);
}

TEST_CASE("callbacks: an interval that no solve reaches") {
    problem<double> p(device_group::host(2), poisson1d<double>(50),
                      testing::random_values<double>(50, 323));
    for (const bool pauses : {false, true}) {
        std::vector<std::int64_t> told;
        const auto got = p.solve(
            method::cg, {.callback = [&](const progress& now) { told.push_back(now.iteration); },
                         .callback_interval = unlimited,
                         .callback_pauses = pauses});
        CHECK(got.converged());
        CHECK(told == std::vector<std::int64_t>{0, got.iterations});
    }
}

} // namespace krylith
