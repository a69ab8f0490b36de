// Solves whose drivers are treated as those of several machines: all that they have of each other
// is a link.
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/tests/comm/drivers.hpp>

using namespace krylith;
using krylith::testing::dealt_group;
using krylith::testing::drivers_treated_as;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

std::vector<double> repeated_values(std::int64_t rows) {
    std::vector<double> b(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + static_cast<double>(i % 3);
    return b;
}

/// x, then the residuals of the iterations, of two solves with other values.
std::vector<double> solve_twice(const communicator& comm, csr_matrix<double> matrix,
                                const std::string& preconditioner, execution_mode mode) {
    const auto a = make_operator(comm, matrix, {.kind = operators::halo});
    auto m = make_preconditioner(preconditioner, *a, csr_view<double>(matrix));
    auto b = a->make_range_vector();
    auto x = a->make_domain_vector();
    b.upload(repeated_values(matrix.rows));
    std::vector<double> all;
    for (const double scale : {1.0, 3.0}) {
        for (double& value : matrix.values) value *= scale;
        a->update(matrix.values);
        m.update(csr_view<double>(matrix));
        const solve_result result =
            gmres(*a, b, x, {.max_iterations = 40, .history = true, .mode = mode}, m);
        std::vector<double> found(static_cast<std::size_t>(matrix.rows));
        x.download(found);
        all.insert(all.end(), found.begin(), found.end());
        all.insert(all.end(), result.history.begin(), result.history.end());
    }
    return all;
}

/// Compares what drivers find with what one driver of all devices finds.
void check_solves(backend kind, const std::vector<int>& sizes, const std::string& gallery,
                  const std::string& preconditioner, execution_mode mode) {
    CAPTURE(gallery);
    CAPTURE(preconditioner);
    const auto matrix = make_gallery<double>(gallery);
    const dealt_group devices = dealt_group::of(kind, sizes);
    const auto expected =
        solve_twice(devices.whole, matrix, preconditioner, execution_mode::automatic);
    std::vector<std::vector<double>> found(static_cast<std::size_t>(devices.whole.size()));
    expect_none(with_drivers(devices.parts, [&](const communicator& comm) {
        found[static_cast<std::size_t>(comm.first_local())] =
            solve_twice(comm, matrix, preconditioner, mode);
        for (int rank = 0; rank < comm.ranks(); ++rank)
            CHECK((comm.path(comm.first_local(), rank) == peer_path::posted) !=
                  comm.is_local(rank));
    }));
    for (const auto& of : found)
        if (!of.empty()) CHECK(of == expected);
}

void check_two_machines(backend kind) {
    const drivers_treated_as machines({.separate_machines = true});
    for (const char* preconditioner : {"none", "chebyshev", "ilu0", "amg"})
        check_solves(kind, {1, 1}, "poisson3d:7", preconditioner, execution_mode::recorded);
    check_solves(kind, {1, 1}, "poisson3d:7", "jacobi", execution_mode::eager);
    check_solves(kind, {1, 1}, "elasticity3d:3", "amg", execution_mode::recorded);
}

} // namespace

TEST_CASE("machines: two have the bits of one") {
    check_two_machines(backend::host);
}

TEST_CASE("machines: two have the bits of one [cuda]") {
    check_two_machines(backend::cuda);
}

TEST_CASE("machines: up to five with up to three devices, some of which have no rows") {
    const drivers_treated_as machines({.separate_machines = true});
    for (const std::vector<int>& sizes :
         {std::vector{2, 2}, std::vector{1, 3, 1}, std::vector{1, 1, 1, 1, 1}})
        for (const char* gallery : {"poisson2d:11", "poisson1d:3"})
            check_solves(backend::host, sizes, gallery, "amg", execution_mode::recorded);
}

TEST_CASE("machines: who doesn't answer is noticed, and staged copies are refused") {
    const drivers_treated_as machines({.separate_machines = true});
    const auto matrix = make_gallery<double>("poisson2d:12");
    const auto thrown = with_drivers(
        {device_group::host(1), device_group::host(1)},
        [&](const communicator& comm) {
            const auto a = make_operator(comm, matrix);
            auto b = a->make_range_vector();
            auto x = a->make_domain_vector();
            b.upload(repeated_values(matrix.rows));
            solver_options options{.rtol = 1e-300, .max_iterations = 1000000};
            options.timeout_seconds = 0.3;
            options.callback_interval = 1;
            bool slept = false;
            options.callback = [&](const progress& report) {
                // Nobody carries messages meanwhile.
                if (!comm.is_local(0) && report.iteration >= 20 && !std::exchange(slept, true))
                    std::this_thread::sleep_for(std::chrono::milliseconds(600));
                return next_step::go;
            };
            (void)cg(*a, b, x, options);
        },
        2);
    for (const auto& one : thrown) {
        REQUIRE(one);
        CHECK_THROWS_WITH_AS(std::rethrow_exception(one), doctest::Contains("did not answer"),
                             communication_error);
    }
    const auto refused =
        with_drivers({device_group::host(2, {.staged = true}), device_group::host(1)},
                     [](const communicator&) {});
    for (const auto& one : refused) {
        REQUIRE(one);
        CHECK_THROWS_WITH_AS(std::rethrow_exception(one),
                             doctest::Contains("drivers on several machines"), usage_error);
    }
}
