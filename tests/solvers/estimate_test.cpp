// The memory that is estimated, against what a solve then holds.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/solvers/estimate.hpp>
#include <krylith/solvers/solver_table.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith {

namespace {

/// The bytes of these items, or of all where there is none, on the device that has most.
template <class... Items>
std::int64_t most(const solve_result& result, const Items&... items) {
    std::int64_t largest = 0;
    for (const auto& device : result.bytes) {
        std::int64_t sum = 0;
        for (const auto& [item, bytes] : device)
            if ((... || (item == items))) sum += static_cast<std::int64_t>(bytes);
        largest = std::max(largest, sum);
    }
    return largest;
}

} // namespace

KRYLITH_GROUP_TEST("estimate: the bytes that a solve then holds") {
    const auto matrix = poisson2d<double>(30, 28);
    for (const operator_kind kind : {operators::halo, operators::nz})
        for (const std::string_view solver : {"cg:launched", "gmres", "bicgstab"})
            for (const std::string_view preconditioner : {"none", "jacobi"}) {
                CAPTURE(std::string(solver));
                CAPTURE(std::string(preconditioner));
                CAPTURE(to_string(kind));
                const solve_plan plan{.multiply = {.kind = kind, .format = formats::csr},
                                      .solver = solver,
                                      .preconditioner = preconditioner,
                                      .restart = 12};
                const memory_estimate expected = estimate(group, matrix, plan);
                const auto a = make_operator(group, matrix, plan.multiply);
                const auto m = make_preconditioner(preconditioner, *a);
                auto b = a->make_range_vector("b");
                auto x = a->make_range_vector("x");
                b.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1.0));
                const auto result =
                    find_solver(solver).solve(*a, b, x, {.max_iterations = 5, .restart = 12}, m);
                std::int64_t bytes = 0;
                for (int rank = 0; rank < group.size(); ++rank)
                    bytes = std::max(bytes, a->matrix_bytes(rank));
                CHECK(expected.matrix == bytes);
                CHECK(expected.vectors <= most(result, "b", "x"));
                const auto held = most(result, "b", "x", "vectors", "preconditioner");
                const auto said = expected.total() - expected.matrix;
                CHECK(said <= held);
                // Pointers to the basis, a report of jacobi, and ghosts that begin at a multiple of
                // 128 bytes before the owned entries of two vectors.
                CHECK(held <= said + 13 * 8 + 64 + 2 * 128);
            }
}

KRYLITH_GROUP_TEST("estimate: least squares keep A' too") {
    const auto matrix = convection_diffusion<double>(8, 20);
    const solve_plan plan{
        .multiply = {.kind = operators::halo, .format = formats::csr, .transposed_products = true},
        .solver = "lsqr"};
    const auto a = make_operator(group, matrix, plan.multiply);
    std::int64_t bytes = 0;
    for (int rank = 0; rank < group.size(); ++rank)
        bytes = std::max(bytes, a->matrix_bytes(rank) + a->transposed().matrix_bytes(rank));
    const memory_estimate expected = estimate(group, matrix, plan);
    CHECK(expected.matrix >= bytes);
    CHECK(expected.matrix <= bytes + bytes / 100);
}

KRYLITH_GROUP_TEST("estimate: damping takes one vector more") {
    const auto matrix = poisson2d<double>(30, 28);
    solve_plan plan{
        .multiply = {.kind = operators::halo, .format = formats::csr, .transposed_products = true},
        .solver = "lsqr"};
    const auto held = [&](double damping) {
        const auto a = make_operator(group, matrix, plan.multiply);
        auto b = a->make_range_vector("b");
        auto x = a->make_range_vector("x");
        b.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1.0));
        return most(find_solver("lsqr").solve(*a, b, x, {.damping = damping, .max_iterations = 2}),
                    "vectors");
    };
    const std::int64_t plain = estimate(group, matrix, plan).workspace;
    plan.damped = true;
    const std::int64_t more = estimate(group, matrix, plan).workspace - plain;
    CHECK(more > 0);
    CHECK(held(2) - held(0) == more);
}

KRYLITH_GROUP_TEST("estimate: auto is what is built, and what has no model is refused") {
    const auto matrix = poisson2d<double>(20);
    CHECK(estimate(group, matrix).total() > 0);
    CHECK(estimate(group, matrix).preconditioner == 0);
    CHECK_THROWS_AS((void)estimate(group, matrix, {.solver = "symmlq"}), usage_error);
    CHECK_THROWS_AS((void)estimate(group, matrix, {.preconditioner = "ilu"}), usage_error);
    if (group.size() > 1)
        CHECK_THROWS_WITH_AS((void)estimate(group, matrix, {.multiply = {.kind = operators::lra}}),
                             doctest::Contains("estimate: what operator lra needs follows from its "
                                               "own plan only"),
                             usage_error);
}

} // namespace krylith
