// Options out of range are refused by name before anything is computed.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::all_methods;
using testing::laplace_1d;
using testing::problem;

TEST_CASE("options: each bad value is refused by its name, by every solver") {
    struct row {
        std::string name;
        std::function<void(solver_options&)> spoil;
    };
    const double nan = std::nan("");
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<row> rows = {
        {"rtol", [](auto& o) { o.rtol = -1e-8; }},
        {"rtol", [](auto& o) { o.rtol = 1; }},
        {"rtol", [=](auto& o) { o.rtol = nan; }},
        {"rtol_normal", [](auto& o) { o.rtol_normal = -1e-8; }},
        {"rtol_normal", [=](auto& o) { o.rtol_normal = nan; }},
        {"damping", [](auto& o) { o.damping = -1; }},
        {"damping", [=](auto& o) { o.damping = nan; }},
        {"damping", [=](auto& o) { o.damping = infinity; }},
        {"atol", [](auto& o) { o.atol = -1; }},
        {"atol", [=](auto& o) { o.atol = nan; }},
        {"atol", [=](auto& o) { o.atol = infinity; }},
        {"max_iterations", [](auto& o) { o.max_iterations = -2; }},
        {"restart", [](auto& o) { o.restart = 0; }},
        {"restart", [](auto& o) { o.restart = -5; }},
        {"polynomial_degree", [](auto& o) { o.polynomial_degree = 0; }},
        {"polynomial_degree", [](auto& o) { o.polynomial_degree = 4; }},
        {"shadow_vectors", [](auto& o) { o.shadow_vectors = 0; }},
        {"shadow_vectors", [](auto& o) { o.shadow_vectors = 101; }},
        {"divergence_tolerance", [](auto& o) { o.divergence_tolerance = 1; }},
        {"divergence_tolerance", [=](auto& o) { o.divergence_tolerance = nan; }},
        {"stagnation_window", [](auto& o) { o.stagnation_window = 0; }},
        {"stagnation_gain", [](auto& o) { o.stagnation_gain = 0.0009; }},
        {"stagnation_gain", [](auto& o) { o.stagnation_gain = 1.5; }},
        {"stagnation_gain", [=](auto& o) { o.stagnation_gain = nan; }},
        {"callback_interval", [](auto& o) { o.callback_interval = 0; }},
        {"max_seconds", [](auto& o) { o.max_seconds = -1; }},
        {"max_seconds", [=](auto& o) { o.max_seconds = nan; }},
        {"unroll", [](auto& o) { o.unroll = 0; }},
        {"timeout_seconds", [](auto& o) { o.timeout_seconds = 0; }},
        {"timeout_seconds", [=](auto& o) { o.timeout_seconds = nan; }},
    };
    problem<double> p(device_group::host(2), laplace_1d(10), std::vector<double>(10, 1.0));
    for (const row& r : rows)
        for (const auto which : all_methods) {
            solver_options options;
            r.spoil(options);
            const std::string begin = "solver option " + r.name + " = ";
            CHECK_THROWS_WITH_AS((void)p.solve(which, options), doctest::Contains(begin.c_str()),
                                 usage_error);
        }
    for (const auto which : all_methods) CHECK(p.solve(which).converged());
}

TEST_CASE("options: what is at the edge is accepted") {
    problem<double> p(device_group::host(2), laplace_1d(10), std::vector<double>(10, 1.0));
    solver_options options{.rtol = 0,
                           .atol = 1e-9,
                           .restart = 1'000'000'000,
                           .divergence_tolerance = std::numeric_limits<double>::infinity(),
                           .stagnation_window = std::numeric_limits<std::int64_t>::max(),
                           .callback_interval = std::numeric_limits<std::int64_t>::max() / 2,
                           .unroll = 1,
                           .timeout_seconds = 1e6};
    for (const auto which : all_methods) CHECK(p.solve(which, options).converged());
}

TEST_CASE("options: a mode that the group can't run is refused") {
    problem<double> p(device_group::host(2, {.staged = true}), laplace_1d(10),
                      std::vector<double>(10, 1.0));
    for (const auto which : all_methods) {
        CHECK_THROWS_AS((void)p.solve(which, {.mode = execution_mode::recorded}), usage_error);
        const auto result = p.solve(which);
        CHECK(result.converged());
        CHECK_FALSE(result.recorded);
    }
}

KRYLITH_GROUP_TEST("options: vectors of another operator are refused") {
    problem<double> p(group, laplace_1d(10), std::vector<double>(10, 1.0));
    problem<double> q(group, laplace_1d(10), std::vector<double>(10, 1.0));
    for (const auto which : all_methods) {
        CHECK_THROWS_AS((void)testing::solve(which, *p.a, q.b, p.x), usage_error);
        CHECK_THROWS_AS((void)testing::solve(which, *p.a, p.b, q.x), usage_error);
        CHECK(p.solve(which).converged());
    }
}

TEST_CASE("options: reasons, sides and modes have names that differ") {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(reason::out_of_range); ++i)
        names.emplace_back(to_string(static_cast<reason>(i)));
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(names[i] != "unknown");
        for (std::size_t j = 0; j < i; ++j) CHECK(names[i] != names[j]);
    }
}

} // namespace krylith
