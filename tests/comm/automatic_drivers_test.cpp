// solve(), which chooses the method, with ranks that are dealt to several drivers.
#include <stop_token>
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

struct chosen_solve {
    solve_result result;
    std::vector<double> x;
};

chosen_solve solve_by_choice(const communicator& comm, const csr_matrix<double>& matrix,
                             const solver_options& options) {
    std::vector<double> b(static_cast<std::size_t>(matrix.rows));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + static_cast<double>(i % 3);
    chosen_solve found;
    found.x.resize(static_cast<std::size_t>(matrix.columns));
    found.result = solve<double>(comm, matrix, b, found.x, options);
    return found;
}

/// -u'' with Neumann conditions at both ends: singular.
csr_matrix<double> neumann(std::int32_t n) {
    auto matrix = make_gallery<double>("poisson1d:" + std::to_string(n));
    matrix.values.front() = 1;
    matrix.values.back() = 1;
    return matrix;
}

/// Twice an unknown less the one before it, of n - 1 unknowns.
csr_matrix<double> tall(std::int32_t n) {
    csr_matrix<double> matrix;
    matrix.rows = n;
    matrix.columns = n - 1;
    matrix.row_offsets = {0};
    for (std::int32_t i = 0; i < n; ++i) {
        if (i > 0) {
            matrix.column_indices.push_back(i - 1);
            matrix.values.push_back(-1);
        }
        if (i < n - 1) {
            matrix.column_indices.push_back(i);
            matrix.values.push_back(2);
        }
        matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.values.size()));
    }
    return matrix;
}

} // namespace

KRYLITH_DRIVERS_TEST("drivers: solve() chooses, fails and converges as with one driver") {
    struct problem {
        const char* name;
        csr_matrix<double> matrix;
    };
    for (const problem& system :
         {problem{"definite", make_gallery<double>("poisson3d:12")},
          problem{"not symmetric", make_gallery<double>("convection_diffusion:10:100")},
          problem{"indefinite", make_gallery<double>("helmholtz2d:24:12")},
          problem{"nodes", make_gallery<double>("elasticity3d:5")},
          problem{"constants vanish", neumann(60)}, problem{"not square", tall(90)}}) {
        CAPTURE(std::string(system.name));
        const csr_matrix<double>& matrix = system.matrix;
        const solver_options options{.max_iterations = 300, .history = true};
        const dealt_group devices = dealt_group::of(kind, {2, 1});
        const chosen_solve one = solve_by_choice(devices.whole, matrix, options);
        const auto found = testing::found_by_drivers(devices.parts, [&](const communicator& comm) {
            return solve_by_choice(comm, matrix, options);
        });
        for (const chosen_solve& of : found) {
            CHECK(of.x == one.x);
            CHECK(of.result.reason == one.result.reason);
            CHECK(of.result.history == one.result.history);
            REQUIRE(of.result.attempts.size() == one.result.attempts.size());
            for (std::size_t k = 0; k < one.result.attempts.size(); ++k) {
                CHECK(of.result.attempts[k].solver == one.result.attempts[k].solver);
                CHECK(of.result.attempts[k].preconditioner ==
                      one.result.attempts[k].preconditioner);
            }
        }
    }
}

KRYLITH_DRIVERS_TEST("drivers: a stop or the clock of one driver ends a choice for all") {
    const auto matrix = make_gallery<double>("poisson3d:12");
    const dealt_group devices = dealt_group::of(kind, {2, 1});
    for (const bool stops : {true, false}) {
        expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
            std::stop_source source;
            solver_options options;
            if (!comm.is_local(0)) {
                options.max_seconds = stops ? options.max_seconds : 0;
                options.stop = source.get_token();
                if (stops) source.request_stop();
            }
            const chosen_solve found = solve_by_choice(comm, matrix, options);
            CHECK(found.result.reason == (stops ? reason::interrupted : reason::time_limit));
        }));
    }
}
