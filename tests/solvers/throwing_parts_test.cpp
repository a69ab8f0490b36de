// Functions of the caller's that throw on one device while the others wait for it in a recorded
// loop, and waits that end in a time-out: how soon the solve ends, and what the next one finds.
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <krylith/device/host/host_device.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::method;
using testing::problem;

namespace {

constexpr double patience = 30; ///< seconds: a wait for a device that has thrown would show

/// What the solve throws, and within a small part of the time-out.
template <class Solve>
std::string soon_thrown(const Solve& solve) {
    const auto start = std::chrono::steady_clock::now();
    std::string what = "nothing";
    try {
        solve();
    } catch (const communication_error& e) {
        what = std::string("communication_error: ") + e.what();
    } catch (const std::exception& e) {
        what = e.what();
    }
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::duration<double>(patience / 3));
    return what;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The devices on which a part throws: one of them, or all (-1).
std::vector<int> who_throws(int devices) {
    std::vector<int> who{-1};
    for (int rank = 0; rank < devices; ++rank) who.push_back(rank);
    return who;
}

} // namespace

TEST_CASE("an exception of M on one device ends a recorded solve at once, and the next is right") {
    for (const int devices : {1, 2, 3}) {
        const auto group = device_group::host(devices);
        problem<double> p(group, poisson2d<double>(24), testing::random_values<double>(576, 311));
        for (const auto kind : {preconditioner_kind::on_device, preconditioner_kind::on_host,
                                preconditioner_kind::on_device_alike})
            for (const int who : who_throws(devices)) {
                std::atomic<int> calls = 0;
                const auto m =
                    make_preconditioner(*p.a,
                                        [&](const preconditioner_call<double>& c) {
                                            for (std::int64_t i = 0; i < c.rows.size(); ++i)
                                                c.z[i] = c.r[i] / 4;
                                            if (++calls > 7 * devices && (who < 0 || c.rank == who))
                                                throw std::runtime_error("mine");
                                        },
                                        {.kind = kind});
                for (const method s : {method::cg, method::gmres, method::bicgstab}) {
                    CAPTURE(devices);
                    CAPTURE(who);
                    CAPTURE(to_string(s));
                    calls = 0;
                    const auto thrown = soon_thrown(
                        [&] { (void)solve(s, *p.a, p.b, p.x, {.timeout_seconds = patience}, m); });
                    CHECK(contains(thrown, "mine"));
                    CHECK_FALSE(contains(thrown, "communication_error"));
                    // The same vectors, whose ghosts were on their way.
                    const auto next = p.solve(s, {.rtol = 1e-10, .timeout_seconds = patience});
                    CHECK(next.converged());
                    CHECK(p.relative_residual() < 1.1e-10);
                }
            }
    }
}

KRYLITH_GROUP_TEST("an exception of an M that the host computes, and what comes after it") {
    problem<double> p(group, poisson2d<double>(24), testing::random_values<double>(576, 315));
    for (const auto kind : {preconditioner_kind::on_host, preconditioner_kind::whole_on_host})
        for (const int who : who_throws(group.size())) {
            const bool whole = kind == preconditioner_kind::whole_on_host; // one call for all
            const int calls_an_application = whole ? 1 : group.size();
            std::atomic<int> calls = 0;
            const auto m = make_preconditioner(*p.a,
                                               [&](const preconditioner_call<double>& c) {
                                                   for (std::int64_t i = 0; i < c.rows.size(); ++i)
                                                       c.z[i] = c.r[i] / 4;
                                                   if (++calls > 7 * calls_an_application &&
                                                       (who <= 0 || c.rank == who))
                                                       throw std::runtime_error("mine");
                                               },
                                               {.kind = kind});
            const solver_options options{.rtol = 1e-10, .timeout_seconds = patience};
            const bool called = !whole || who <= 0;
            const auto thrown =
                soon_thrown([&] { (void)solve(method::cg, *p.a, p.b, p.x, options, m); });
            CHECK(contains(thrown, called ? "mine" : "nothing"));
            CHECK(p.solve(method::cg, options).converged());
            CHECK(p.relative_residual() < 1.1e-10);
        }
}

TEST_CASE("an exception of a product on one device ends a recorded solve at once") {
    const auto matrix = poisson2d<double>(20);
    for (const int devices : {2, 3}) {
        const auto group = device_group::host(devices);
        for (const int who : who_throws(devices)) {
            std::atomic<int> calls = 0;
            std::atomic<bool> throws = true;
            const auto a = make_matrix_free<double>(
                group, equal_rows(matrix.rows, devices), [&](const product_call<double>& c) {
                    if (++calls > 5 * devices && throws && (who < 0 || c.rank == who))
                        throw std::runtime_error("mine");
                    for (std::int64_t i = 0; i < c.rows.size(); ++i)
                        c.y[i] = static_cast<double>(2 + i % 7) * c.x[c.rows.begin + i];
                });
            auto b = a->make_range_vector();
            auto x = a->make_domain_vector();
            b.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1));
            CHECK(contains(soon_thrown([&] { (void)cg(*a, b, x, {.timeout_seconds = patience}); }),
                           "mine"));
            throws = false;
            CHECK(cg(*a, b, x, {.timeout_seconds = patience}).converged());
        }
    }
}

TEST_CASE("puts that one device has made and another has not: vectors and kept recordings serve") {
    const auto matrix = poisson2d<double>(24);
    for (const int devices : {2, 3})
        for (const bool slow : {false, true}) { // a time-out instead of an exception
            const auto group = device_group::host(devices);
            const auto a = make_operator(group, matrix);
            auto p = a->make_domain_vector();
            p.promise_single_reader(); // peers put the next one when the product is done
            auto y = a->make_range_vector();
            const auto start = testing::random_values<double>(576, 312);
            y.upload(start);
            // p = y / 8, y = A p, again and again: no all-reduce keeps the devices in step.
            const auto step = [&](execution& run, scalar& eighth) {
                fused(run, p = eighth * y);
                a->apply(run, 1, p, 0, y);
            };
            execution kept(group, {.mode = execution_mode::recorded, .timeout_seconds = patience});
            scalar eighth(kept);
            eighth = 0.125;
            const auto steps_of_kept = [&](int count) {
                y.upload(start);
                testing::set_controls(kept, 0, count);
                kept.set(control::residual, 1);
                (void)kept.repeat([&] {
                    step(kept, eighth);
                    test_residual(eighth);
                });
                return testing::values_of(y);
            };
            const auto wanted = steps_of_kept(32);
            {
                execution run(group, {.mode = execution_mode::recorded,
                                      .timeout_seconds = slow ? 0.1 : patience});
                scalar factor(run);
                factor = 0.125;
                int trips = 0;
                const auto thrown = soon_thrown([&] {
                    (void)testing::iterate(run, 50, [&] {
                        step(run, factor);
                        static_cast<host_device&>(group[1]).submit([&] {
                            if (++trips != 6) return;
                            // Meanwhile the others put p once more.
                            std::this_thread::sleep_for(std::chrono::milliseconds(600));
                            if (!slow) throw std::runtime_error("mine");
                        });
                    });
                });
                CHECK(contains(thrown, slow ? "did not answer" : "mine"));
            }
            CHECK(soon_thrown([&] {
                      CHECK(testing::same_bits(steps_of_kept(32), wanted)); // recorded before
                      execution next(group, {.timeout_seconds = patience});
                      scalar factor(next);
                      factor = 0.125;
                      y.upload(start);
                      (void)testing::iterate(next, 32, [&] { step(next, factor); });
                      CHECK(testing::same_bits(testing::values_of(y), wanted));
                  }) == "nothing");
        }
}

TEST_CASE("an exception of a callback, watched or paused, ends a solve of several devices") {
    for (const int devices : {1, 3}) {
        problem<double> p(device_group::host(devices), poisson2d<double>(24),
                          testing::random_values<double>(576, 313));
        for (const bool pauses : {false, true}) {
            const auto thrown = soon_thrown([&] {
                (void)p.solve(method::cg, {.callback =
                                               [](const progress& now) {
                                                   if (now.iteration > 3)
                                                       throw std::runtime_error("mine");
                                               },
                                           .callback_pauses = pauses,
                                           .timeout_seconds = patience});
            });
            CHECK(thrown == "mine"); // in the caller's thread
            CHECK(p.solve(method::cg, {.rtol = 1e-10, .timeout_seconds = patience}).converged());
            CHECK(p.relative_residual() < 1.1e-10);
        }
    }
}

TEST_CASE("after a time-out the same operator and vectors serve again") {
    for (const int devices : {2, 3}) {
        problem<double> p(device_group::host(devices), poisson2d<double>(24),
                          testing::random_values<double>(576, 314));
        std::atomic<int> calls = 0;
        const auto slow = make_preconditioner(*p.a, [&](const preconditioner_call<double>& c) {
            for (std::int64_t i = 0; i < c.rows.size(); ++i) c.z[i] = c.r[i] / 4;
            if (c.rank == 1 && ++calls == 6)
                std::this_thread::sleep_for(std::chrono::milliseconds(600));
        });
        CHECK_THROWS_WITH_AS(
            (void)solve(method::cg, *p.a, p.b, p.x, {.timeout_seconds = 0.1}, slow),
            doctest::Contains("did not answer within 0.1"), communication_error);
        CHECK(p.solve(method::cg, {.rtol = 1e-10, .timeout_seconds = patience}).converged());
        CHECK(p.relative_residual() < 1.1e-10);
    }
}

} // namespace krylith
