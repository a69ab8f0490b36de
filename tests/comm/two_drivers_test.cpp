// Solves whose ranks are dealt to several threads, each of which sees its own devices alone: the
// same bits as with one thread, and the same failures in all of them.
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <krylith/krylith.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/spmv/matrix_parts.hpp>
#include <krylith/spmv/table/operators.hpp>
#include <krylith/tests/comm/drivers.hpp>
#include <krylith/tests/comm/short_drivers.hpp>

using namespace krylith;
using krylith::testing::dealt_group;
using krylith::testing::expect_none;
using krylith::testing::with_drivers;

namespace {

struct outcome {
    std::vector<double> x;
    std::vector<double> history;
    std::int64_t iterations = 0;
    krylith::reason reason = reason::max_iterations;
};

/// Solves with b = 1 from x = 0.
outcome solve_on(const matrix_operator<double>& a, const solver_method& method,
                 solver_options options = {}) {
    auto x = a.make_domain_vector();
    auto b = a.make_range_vector();
    const std::vector<double> ones(static_cast<std::size_t>(a.rows()), 1.0);
    b.upload(ones);
    options.history = true;
    const solve_result result = method.solve(a, b, x, options);
    outcome found{std::vector<double>(ones.size()), result.history, result.iterations,
                  result.reason};
    x.download(found.x);
    return found;
}

/// What each of two drivers finds, of 2 + 1 devices where there are so many, and one driver of all.
std::vector<outcome> on_both(backend kind, const group_options& options,
                             const std::function<outcome(const communicator&)>& work) {
    const dealt_group devices = dealt_group::of(kind, {2, 1}, options);
    std::vector<outcome> found = testing::found_by_drivers(devices.parts, work);
    found.push_back(work(devices.whole));
    return found;
}

void check_alike(const std::vector<outcome>& found) {
    for (const outcome& of : found) {
        CHECK(of.iterations == found.back().iterations);
        CHECK(of.reason == found.back().reason);
        CHECK(of.history == found.back().history);
        CHECK(of.x == found.back().x);
    }
}

} // namespace

KRYLITH_DRIVERS_TEST(
    "drivers: every solver that isn't for one process has the bits of one driver") {
    const auto matrix = make_gallery<double>("poisson3d:9");
    for (const solver_method* method : all_solvers) {
        if (!method->runs_everywhere) continue;
        CAPTURE(std::string(method->name));
        const auto work = [&](const communicator& comm) {
            const auto a = make_operator(
                comm, matrix,
                {.kind = operators::halo, .transposed_products = method->least_squares});
            return solve_on(*a, *method);
        };
        if (method->one_process) {
            CHECK_THROWS_WITH_AS(on_both(kind, {}, work), doctest::Contains("in one thread"),
                                 usage_error);
            continue;
        }
        const auto found = on_both(kind, {}, work);
        CHECK(found.back().reason == reason::converged_rtol);
        check_alike(found);
    }
}

KRYLITH_DRIVERS_TEST(
    "drivers: every operator that isn't for one process has the bits of one driver") {
    const auto matrix = make_gallery<double>("poisson2d:20");
    for (const operator_kind choice : operators::all) {
        CAPTURE(std::string(to_string(choice)));
        const auto work = [&](const communicator& comm) {
            const auto a = make_operator(comm, matrix, {.kind = choice});
            return solve_on(*a, solver_rows::cg);
        };
        if (choice->one_process)
            CHECK_THROWS_WITH_AS(on_both(kind, {}, work), doctest::Contains("in one thread"),
                                 usage_error);
        else
            check_alike(on_both(kind, {}, work));
    }
}

KRYLITH_DRIVERS_TEST(
    "drivers: eager execution, staged copies and updates have the bits of one driver") {
    auto matrix = make_gallery<double>("poisson2d:20");
    auto doubled = matrix.values;
    for (double& value : doubled) value *= 1.5;
    for (const bool staged : {false, true})
        check_alike(on_both(kind, {.staged = staged}, [&](const communicator& comm) {
            const auto a = make_operator(comm, matrix);
            const outcome first =
                solve_on(*a, solver_rows::bicgstab, {.mode = execution_mode::eager});
            a->update(doubled);
            outcome second = solve_on(*a, solver_rows::cg);
            second.history.insert(second.history.end(), first.history.begin(), first.history.end());
            return second;
        }));
}

KRYLITH_DRIVERS_TEST("drivers: rows that lie on the devices, and a matrix over them") {
    const auto matrix = make_gallery<double>("poisson3d:6");
    check_alike(on_both(kind, {}, [&](const communicator& comm) {
        const row_partition rows = equal_rows(matrix.rows, comm.ranks());
        const distributed_csr<double> over(comm, csr_view<double>(matrix), rows, rows);
        const auto a = make_operator(over);
        const outcome first = solve_on(*a, solver_rows::cg);
        const auto columns = by_rank(comm, [&](int rank) { return over.global_columns(rank); });
        const auto parts = by_rank(comm, [&](int rank) {
            const auto block = over.block(rank).view();
            return csr_part<double>{block.rows, block.offsets,
                                    columns[static_cast<std::size_t>(rank)].data(), block.values};
        });
        const auto of_parts =
            make_operator<double>(comm, std::span<const csr_part<double>>(parts), {});
        outcome second = solve_on(*of_parts, solver_rows::cg);
        CHECK(second.x == first.x);
        return second;
    }));
}

KRYLITH_DRIVERS_TEST("drivers: a product of the caller's, without a matrix") {
    const auto matrix = make_gallery<double>("poisson2d:12");
    const auto how = kind == backend::cuda ? product_kind::on_host : product_kind::on_device;
    check_alike(on_both(kind, {}, [&](const communicator& comm) {
        const auto plan = make_halo_plan(matrix.row_offsets, matrix.column_indices,
                                         equal_rows(matrix.rows, comm.ranks()));
        const auto product = [&](const product_call<double>& call) {
            const local_indices& here = plan.columns.local(call.rank);
            for (std::int64_t row = call.rows.begin; row < call.rows.end; ++row) {
                double sum = 0;
                for (auto k = matrix.row_offsets[std::size_t(row)];
                     k < matrix.row_offsets[std::size_t(row) + 1]; ++k)
                    sum += matrix.values[std::size_t(k)] *
                           call.x[here.local(matrix.column_indices[std::size_t(k)]) -
                                  here.first_owned()];
                call.y[row - call.rows.begin] = sum;
            }
        };
        const auto a = make_matrix_free<double>(comm, plan, product, how);
        return solve_on(*a, solver_rows::cg);
    }));
}

KRYLITH_DRIVERS_TEST("drivers: a stop, a limit and a failure of one driver end all of them") {
    const auto matrix = make_gallery<double>("poisson2d:40");
    for (const execution_mode mode : {execution_mode::automatic, execution_mode::eager}) {
        // The second driver is told to stop, before the solve and within it.
        for (const std::int64_t at : {0, 40}) {
            const auto found = testing::found_by_drivers(
                dealt_group::of(kind, {1, 1}).parts, [&](const communicator& comm) {
                    const bool second = comm.is_local(1);
                    const auto a = make_operator(comm, matrix);
                    std::stop_source source;
                    solver_options options{.rtol = 1e-300, .max_iterations = 100000};
                    options.mode = mode;
                    options.stop = source.get_token();
                    if (at == 0 && second) source.request_stop();
                    options.callback_interval = 1;
                    options.callback = [&](const progress& report) {
                        if (second && at != 0 && report.iteration >= at) source.request_stop();
                        return next_step::go;
                    };
                    return solve_on(*a, solver_rows::cg, options);
                });
            for (const outcome& of : found) {
                CHECK(of.reason == reason::interrupted);
                CHECK(of.iterations == found[0].iterations);
                CHECK(of.x == found[0].x);
            }
        }
        const auto thrown =
            with_drivers(dealt_group::of(kind, {1, 2}).parts, [&](const communicator& comm) {
                const auto a = make_operator(comm, matrix);
                solver_options options{.rtol = 1e-300, .max_iterations = 100000};
                options.mode = mode;
                options.callback = [&](const progress& report) {
                    if (!comm.is_local(0) && report.iteration >= 20)
                        throw input_error("the caller's own");
                    return next_step::go;
                };
                options.callback_interval = 1;
                try {
                    (void)solve_on(*a, solver_rows::cg, options);
                } catch (const input_error&) {
                    // All is well afterwards.
                    REQUIRE(solve_on(*a, solver_rows::cg).reason == reason::converged_rtol);
                    throw;
                }
            });
        for (const auto& one : thrown) {
            REQUIRE(one);
            CHECK_THROWS_WITH_AS(std::rethrow_exception(one), "the caller's own", input_error);
        }
    }
}

TEST_CASE("drivers: memory that is exhausted for one driver ends all of them") {
    const auto matrix = make_gallery<double>("poisson2d:12");
    testing::check_short_memory(2, 1, 20, [&](const communicator& comm) {
        return [&matrix, comm] {
            const auto a = make_operator(comm, matrix);
            REQUIRE(solve_on(*a, solver_rows::cg).reason == reason::converged_rtol);
        };
    });
}

KRYLITH_DRIVERS_TEST("drivers: a wrong entry of one of them is every one's, and they go on") {
    const auto thrown =
        with_drivers(dealt_group::of(kind, {1, 1}).parts, [&](const communicator& comm) {
            const auto assemble = [&](std::int32_t wrong) {
                std::vector<buffer<std::int32_t>> indices(static_cast<std::size_t>(comm.ranks()));
                std::vector<buffer<double>> values(indices.size());
                const auto parts = by_rank(comm, [&](int rank) {
                    std::vector<std::int32_t> places;
                    for (std::int32_t i = 0; i < 64; ++i) places.push_back(64 * rank + i);
                    if (rank == 0) places[3] += wrong;
                    const auto at = static_cast<std::size_t>(rank);
                    indices[at] = {comm.handle(rank), places, "test"};
                    values[at] = {comm.handle(rank), std::vector<double>(64, 2.0), "test"};
                    return coo_part<double>{64, 64, indices[at].data(), indices[at].data(),
                                            values[at].data()};
                });
                const auto a =
                    make_operator<double>(comm, std::span<const coo_part<double>>(parts), {});
                return solve_on(*a, solver_rows::cg).x.front();
            };
            std::exception_ptr failure;
            try {
                (void)assemble(1000);
            } catch (...) {
                failure = std::current_exception();
            }
            REQUIRE(assemble(0) == 0.5);
            std::rethrow_exception(failure);
        });
    for (const auto& one : thrown)
        CHECK_THROWS_WITH_AS(std::rethrow_exception(one), doctest::Contains("is 1003"),
                             input_error);
    CHECK_THROWS_WITH_AS(
        testing::expect_none(with_drivers({device_group::host(1), device_group::host(1)},
                                          [](const communicator& comm) {
                                              (void)make_matrix_free<double>(
                                                  comm, equal_rows(4, 2),
                                                  [](const product_call<double>&) {});
                                          })),
        doctest::Contains("replicated vectors needs all devices in one thread"), usage_error);
}

TEST_CASE("drivers: 64 host devices, and the same of two drivers") {
    const auto matrix = make_gallery<double>("poisson2d:40");
    const auto on = [&](const communicator& comm, operator_kind kind) {
        const auto a = make_operator(comm, matrix, {.kind = kind});
        outcome found = solve_on(*a, solver_rows::cg);
        const outcome second = solve_on(*a, solver_rows::gmres);
        found.history.insert(found.history.end(), second.history.begin(), second.history.end());
        return found;
    };
    for (const operator_kind kind : {operators::halo, operators::allgather}) {
        std::vector<outcome> found(3);
        found[2] = on(device_group::host(64), kind);
        CHECK(found[2].reason == reason::converged_rtol);
        expect_none(with_drivers(
            {device_group::host(40), device_group::host(24)},
            [&](const communicator& comm) { found[comm.is_local(0) ? 0 : 1] = on(comm, kind); }));
        check_alike(found);
    }
    CHECK_THROWS_WITH_AS(
        (void)make_operator(device_group::host(17), matrix, {.kind = operators::nz}),
        doctest::Contains("operator nz takes at most 16 devices, not 17"), usage_error);
}
