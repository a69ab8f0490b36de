// Two host threads that drive one group: one solves, the other solves correctly too or is refused.
#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery/poisson.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

TEST_CASE("two threads on one operator: each solve is right or refused by words") {
    const auto group = device_group::host(2, {.host_threads = 2});
    const auto a = make_operator(group, poisson2d<double>(12), {.kind = operators::halo});
    std::array<vector<double>, 2> b = {a->make_range_vector(), a->make_range_vector()};
    std::array<vector<double>, 2> x = {a->make_range_vector(), a->make_range_vector()};
    for (auto& v : b) v.upload(std::vector<double>(144, 1.0));
    int converged = 0;
    for (int round = 0; round < 100; ++round) {
        group.synchronize();
        std::array<int, 2> good{};
        std::array<int, 2> told{};
        std::atomic<int> ready = 0;
        const auto solve = [&](std::size_t k) {
            ++ready;
            while (ready != 2) std::this_thread::yield();
            try {
                good[k] = cg(*a, b[k], x[k]).converged() ? 1 : 0;
            } catch (const usage_error&) {
                told[k] = 1;
            }
        };
        std::thread first(solve, 0);
        std::thread second(solve, 1);
        first.join();
        second.join();
        for (std::size_t k = 0; k < 2; ++k) CHECK(good[k] + told[k] == 1);
        CHECK(good[0] + good[1] >= 1);
        converged += good[0] + good[1];
    }
    CHECK(converged >= 100);
}

TEST_CASE("KRYLITH_EXECUTION: what it doesn't know is refused") {
    const auto group = device_group::host(1, {.host_threads = 1});
    setenv("KRYLITH_EXECUTION", "nonsense", 1); // NOLINT(concurrency-mt-unsafe)
    CHECK_THROWS_WITH_AS(execution(group, {}),
                         "the environment variable KRYLITH_EXECUTION is 'nonsense': allowed are "
                         "auto and eager",
                         usage_error);
    setenv("KRYLITH_EXECUTION", "eager", 1); // NOLINT(concurrency-mt-unsafe)
    CHECK(execution(group, {}).mode() == execution_mode::eager);
    setenv("KRYLITH_EXECUTION", "auto", 1); // NOLINT(concurrency-mt-unsafe)
    CHECK(execution(group, {}).mode() == execution_mode::recorded);
    unsetenv("KRYLITH_EXECUTION"); // NOLINT(concurrency-mt-unsafe)
}

} // namespace krylith
