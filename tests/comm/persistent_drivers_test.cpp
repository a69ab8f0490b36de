// Persistent CG with ranks that are dealt to several drivers: it runs on GPUs that reach each
// other, and is refused alike elsewhere.
#include <string>
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

struct found_solve {
    std::string why_not; ///< why it is not persistent
    solve_result result;
    std::vector<double> x;
};

/// Solves with b = 1 and Jacobi's preconditioner, by persistent kernels where they can run.
found_solve solve_persistently(const communicator& comm, const solver_options& options,
                               int solves = 1) {
    const auto matrix = make_gallery<double>("poisson3d:20");
    const auto a = make_operator(comm, matrix);
    const jacobi<double> m(*a);
    auto x = a->make_domain_vector();
    auto b = a->make_range_vector();
    std::vector<double> values(static_cast<std::size_t>(a->rows()), 1.0);
    b.upload(values);
    found_solve found{not_persistent_because(*a), {}, {}};
    if (found.why_not.empty()) {
        for (int k = 0; k < solves; ++k) // the counts of one are right for the next
            found.result = persistent_cg(*a, b, x, options, m);
    } else {
        CHECK_THROWS_WITH_AS((void)persistent_cg(*a, b, x, options, m),
                             doctest::Contains(found.why_not.c_str()), usage_error);
        found.result = cg(*a, b, x, options, m);
    }
    x.download(values);
    found.x = std::move(values);
    return found;
}

} // namespace

KRYLITH_DRIVERS_TEST("drivers: persistent CG has the bits of one driver, or is refused alike") {
    const dealt_group devices = dealt_group::of(kind, {1, 1});
    const solver_options options{.history = true};
    const found_solve one = solve_persistently(devices.whole, options, 2);
    CHECK(one.why_not.empty() == (kind == backend::cuda && devices.whole.concurrent()));
    CHECK(one.result.reason == reason::converged_rtol);
    const auto found = testing::found_by_drivers(devices.parts, [&](const communicator& comm) {
        return solve_persistently(comm, options, 2);
    });
    for (const found_solve& of : found) {
        CHECK(of.why_not == one.why_not);
        CHECK(of.result.form == one.result.form);
        CHECK(of.result.history == one.result.history);
        CHECK(of.x == one.x);
    }
}

KRYLITH_DRIVERS_TEST("drivers: the callback of one of them ends persistent CG for all") {
    const dealt_group devices = dealt_group::of(kind, {1, 1});
    for (const int who : {0, 1})
        expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
            solver_options options{.rtol = 1e-300, .max_iterations = 1000000};
            options.callback_interval = 1;
            options.callback = [&](const progress& report) {
                return comm.is_local(who) && report.iteration >= 20 ? next_step::stop
                                                                    : next_step::go;
            };
            CHECK(solve_persistently(comm, options).result.reason == reason::stopped_by_user);
        }));
}
