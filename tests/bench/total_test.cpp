// krylith bench total: every step is there, measured as often as asked for, and what is wrong voids
// the row.
#include <algorithm>
#include <cmath>
#include <string>

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <krylith/bench/total/total_copies.hpp>
#include <krylith/bench/total/total_measure.hpp>
#include <krylith/bench/total/total_peer.hpp>
#include <krylith/bench/total/total_request.hpp>
#include <krylith/device/error.hpp>

#include <krylith/tests/support/groups.hpp>

namespace krylith::bench {

namespace {

workload with_ones(const std::string& name, bool spd) {
    workload w = make_workload(name, {.spd = spd});
    std::ranges::fill(w.b, 1.0);
    w.rhs_norm = std::sqrt(static_cast<double>(w.n()));
    return w;
}

} // namespace

KRYLITH_GROUP_TEST("bench total: all steps, and a solution that is one") {
    const workload w = with_ones("gallery:poisson3d:8", false);
    const total_numbers numbers = measure_total(group, w, 1e-8, 2);
    CHECK(numbers.void_because.empty());
    CHECK(numbers.iterations > 0);
    CHECK(numbers.chosen.find(" iterations") != std::string::npos);
    CHECK(numbers.relative_residual <= 1.01e-8);
    for (const char* const name :
         {"solve()", "make_operator", "make vectors", "upload b", "first solve", "download x",
          "total", "second solve", "update(values)", "copy, pageable", "make_operator, on devices"})
        CHECK(numbers.phase(name).seconds.size() == 2);
    const double first = numbers.phase("total").seconds.front();
    CHECK(first >= numbers.phase("make_operator").seconds.front());
    CHECK(numbers.phase("copy, pageable").bytes ==
          8.0 * static_cast<double>(w.n() + 1) + 12.0 * static_cast<double>(w.nnz()));
    CHECK_THROWS_AS((void)numbers.phase("coffee"), usage_error);
}

KRYLITH_GROUP_TEST("bench total: a solve that does not converge is void") {
    const workload w = with_ones("gallery:random:300:4", false); // not symmetric
    CHECK_FALSE(measure_total(group, w, 1e-8, 1).void_because.empty());
}

KRYLITH_GROUP_TEST("bench total: a bare copy is of all bytes, on however many devices") {
    const workload w = with_ones("gallery:rgg:8", true);
    for (const bool pinned : {false, true}) {
        const bare_copy copy(group, w, pinned);
        CHECK(copy.bytes() ==
              8.0 * static_cast<double>(w.n() + 1) + 12.0 * static_cast<double>(w.nnz()));
        CHECK(copy.run() > 0);
    }
}

TEST_CASE("bench total: matrices that are named are made positive definite where asked") {
    total_request named{.matrices = {"gallery:rgg:10", "gallery:kron:8"}, .spd = true};
    CLI::App app;
    total_request parsed;
    add_options(app, parsed);
    app.parse("gallery:rgg:10 gallery:kron:8 --spd");
    CHECK(parsed.matrices == named.matrices);
    for (const auto& [name, spd] : parsed.matrix_list(backend::cuda)) CHECK(spd);
    named.spd = false;
    for (const auto& [name, spd] : named.matrix_list(backend::cuda)) CHECK_FALSE(spd);
}

TEST_CASE("bench total: a Python that isn't there, or has no CuPy, is said so") {
    CHECK(missing_cupy("/no/such/python").find("/no/such/python has none") == 0);
}

} // namespace krylith::bench
