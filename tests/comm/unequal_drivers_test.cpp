// Drivers that are given different things: what only one watches is every one's, and what can't be
// right is an error of all.
#include <atomic>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::dealt_group;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

struct unequal_outcome {
    reason why = reason::max_iterations;
    std::vector<double> x;
};

unequal_outcome solve_ones(const communicator& comm, const solver_options& options) {
    const auto matrix = make_gallery<double>("poisson2d:12");
    const auto a = make_operator(comm, matrix, {.kind = operators::halo});
    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    std::vector<double> numbers(static_cast<std::size_t>(matrix.rows), 1.0);
    b.upload(numbers);
    unequal_outcome found{cg(*a, b, x, options).reason, {}};
    x.download(numbers);
    found.x = numbers;
    return found;
}

/// The words of what a driver throws.
std::string words_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "nothing";
}

} // namespace

KRYLITH_DRIVERS_TEST("unequal drivers: what one of them watches changes nothing for the others") {
    const dealt_group devices = dealt_group::of(kind, {2, 1});
    const unequal_outcome plain = solve_ones(devices.whole, {});
    const std::stop_source never;
    std::atomic<int> calls = 0;
    const auto count = [&](const progress&) { ++calls; };
    std::vector<solver_options> watches(4);
    watches[0].stop = never.get_token();
    watches[1].max_seconds = 1000;
    watches[2].callback = count;
    watches[3].callback = count;
    watches[3].callback_pauses = true;
    watches[3].callback_interval = 5;
    for (std::size_t k = 0; k < watches.size(); ++k)
        for (const bool first : {true, false}) {
            CAPTURE(k);
            CAPTURE(first);
            calls = 0;
            expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
                const auto found =
                    solve_ones(comm, comm.is_local(0) == first ? watches[k] : solver_options{});
                REQUIRE(found.why == plain.why);
                REQUIRE((k == 3 || found.x == plain.x)); // pauses verify x
            }));
            CHECK((k < 2 || calls > 1));
        }
}

KRYLITH_DRIVERS_TEST("unequal drivers: one of them stops all") {
    const dealt_group devices = dealt_group::of(kind, {1, 1});
    const auto stopped = [&](const std::function<void(solver_options&)>& set) {
        const auto found = testing::found_by_drivers(devices.parts, [&](const communicator& comm) {
            solver_options options{.rtol = 0, .atol = 0, .max_iterations = 1'000'000};
            options.stagnation_window = 1'000'000;
            if (comm.is_local(1)) set(options);
            return solve_ones(comm, options).why;
        });
        for (const reason why : found) CHECK(why == found[0]);
        return found[0];
    };
    std::stop_source requested;
    requested.request_stop();
    CHECK(stopped([&](solver_options& o) { o.stop = requested.get_token(); }) ==
          reason::interrupted);
    CHECK(stopped([](solver_options& o) { o.max_seconds = 0; }) == reason::time_limit);
    CHECK(stopped([](solver_options& o) {
              o.callback = [](const progress&) { return next_step::stop; };
          }) == reason::stopped_by_user);
}

TEST_CASE("unequal drivers: options that differ are refused by name, and the next solve is right") {
    const dealt_group devices = dealt_group::of(backend::host, {1, 1});
    const unequal_outcome plain = solve_ones(devices.whole, {});
    struct setting {
        const char* name;
        std::function<void(solver_options&)> set;
    };
    const std::vector<setting> settings{
        {"rtol", [](auto& o) { o.rtol = 1e-3; }},
        {"atol", [](auto& o) { o.atol = 1; }},
        {"max_iterations", [](auto& o) { o.max_iterations = 0; }},
        {"initial_guess", [](auto& o) { o.initial_guess = true; }},
        {"history", [](auto& o) { o.history = true; }},
        {"mode", [](auto& o) { o.mode = execution_mode::eager; }},
        {"unroll", [](auto& o) { o.unroll = 3; }},
        {"timeout_seconds", [](auto& o) { o.timeout_seconds = 3; }},
        {"stagnation_window", [](auto& o) { o.stagnation_window = 1; }},
        {"divergence_tolerance", [](auto& o) { o.divergence_tolerance = 2; }},
        {"on_failure", [](auto& o) { o.on_failure = failure_policy::throw_error; }},
    };
    for (const setting& one : settings) {
        CAPTURE(one.name);
        expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
            solver_options options;
            if (comm.is_local(1)) one.set(options);
            const std::string words = words_of([&] { (void)solve_ones(comm, options); });
            REQUIRE(words.find("all drivers must give the same " + std::string(one.name)) !=
                    std::string::npos);
            REQUIRE(solve_ones(comm, {}).x == plain.x);
        }));
    }
    for (const double invalid : {2.0, std::numeric_limits<double>::quiet_NaN()})
        expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
            solver_options options;
            if (comm.is_local(1)) options.rtol = invalid;
            const std::string words = words_of([&] { (void)solve_ones(comm, options); });
            REQUIRE(words.find("0 <= rtol < 1") != std::string::npos);
            REQUIRE(solve_ones(comm, {}).x == plain.x);
        }));
}

TEST_CASE("unequal drivers: other matrices, operators and functions are refused") {
    const dealt_group devices = dealt_group::of(backend::host, {1, 1});
    const auto small = make_gallery<double>("poisson2d:5");
    const auto large = make_gallery<double>("poisson2d:6");
    expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
        const bool first = comm.is_local(0);
        std::string words = words_of([&] { (void)make_operator(comm, first ? small : large); });
        REQUIRE(words ==
                "make_operator: all drivers must give the same rows, which is 25 for rank 0 and "
                "36 for rank 1");
        words = words_of([&] {
            (void)make_operator(comm, small,
                                {.kind = first ? operators::halo : operators::allgather});
        });
        REQUIRE(words.find("operator, which is halo") != std::string::npos);
        const row_partition halves = equal_rows(25, 2);
        const auto other = make_gallery<double>("poisson2d:25:1");
        words = words_of(
            [&] { const distributed_csr<double> a(comm, first ? small : other, halves, halves); });
        REQUIRE(words.find("nonzeros") != std::string::npos);
        words = words_of([&] {
            if (first)
                (void)comm.any(true);
            else
                comm.join();
        });
        REQUIRE(words.find("call different functions") != std::string::npos);
        std::vector<double> numbers(2);
        std::vector<double*> arrays(2);
        words = words_of([&] {
            if (first)
                comm.all_gather(numbers);
            else
                arrays = comm.addresses(std::span<double* const>(arrays));
        });
        REQUIRE(words.find("call different functions") != std::string::npos);
        comm.synchronize_all();
    }));
}

TEST_CASE("unequal drivers: one that leaves first takes nothing with it that others wait for") {
    const dealt_group devices = dealt_group::of(backend::host, {1, 1});
    for (int round = 0; round < 200; ++round)
        expect_none(with_drivers(devices.parts, [](const communicator& comm) { comm.join(); }));
}

TEST_CASE("unequal drivers: what follows in a handler of a failure is told apart from it") {
    const dealt_group devices = dealt_group::of(backend::host, {1, 1});
    expect_none(with_drivers(devices.parts, [](const communicator& comm) {
        const auto fail = [&](const char* words) {
            return words_of([&] { comm.together([&] { throw input_error(words); }); });
        };
        try {
            comm.together([] { throw input_error("first"); });
        } catch (const input_error&) {
            if (comm.is_local(0))
                REQUIRE(words_of([&] { (void)comm.any(true); }) == "second");
            else
                REQUIRE(fail("second") == "second");
        }
        REQUIRE(fail("third") == "third");
        REQUIRE(comm.any(comm.is_local(0)));
    }));
}

TEST_CASE("unequal drivers: links that can't serve are refused") {
    CHECK_THROWS_AS(link_threads(2, 0), usage_error);
    CHECK_THROWS_AS(link_threads(2, -1), usage_error);
    CHECK_THROWS_AS(link_threads(2, std::numeric_limits<double>::quiet_NaN()), usage_error);
    CHECK_THROWS_AS(communicator(device_group::host(1), nullptr), usage_error);
    const dealt_group devices = dealt_group::of(backend::host, {1, 1});
    for (const double longest : {1e10, std::numeric_limits<double>::infinity()})
        expect_none(with_drivers(
            devices.parts, [](const communicator& comm) { REQUIRE(comm.any(comm.is_local(1))); },
            longest));
    const auto links = link_threads(3);
    std::vector<std::string> words(2);
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < 2; ++k)
        threads.emplace_back(
            [&, k] { words[k] = words_of([&] { communicator(devices.parts[k], links[0]); }); });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& one : words)
        CHECK(one == "two threads use the link of driver 0 of the communicator: each needs its "
                     "own");
}

TEST_CASE("unequal drivers: staged copies that one asks for are staged between all") {
    const std::vector<device_group> parts{device_group::host(1, {.staged = true}),
                                          device_group::host(1)};
    expect_none(with_drivers(parts, [](const communicator& comm) {
        REQUIRE(comm.path(0, 1) == peer_path::staged);
        REQUIRE(comm.path(1, 0) == peer_path::staged);
        REQUIRE(comm.path(0, 0) == peer_path::direct);
        REQUIRE(comm.serialised_because() == "staged copies were asked for");
        REQUIRE(solve_ones(comm, {}).why == reason::converged_rtol);
    }));
}
