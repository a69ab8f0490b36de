// Operators that keep rows in an order of their own, which no caller sees.
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/partition/ordering/metis_order.hpp>
#include <krylith/partition/ordering/reordered_matrix.hpp>
#include <krylith/spmv/matrix_parts.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::describe;
using testing::method;
using testing::plain_product;
using testing::problem;
using testing::random_values;
using testing::values_of;

namespace {

permutation shuffle(std::int64_t n, std::uint64_t seed) {
    testing::random_numbers random(seed);
    permutation p;
    p.source.resize(static_cast<std::size_t>(n));
    p.place.resize(p.source.size());
    std::iota(p.source.begin(), p.source.end(), 0);
    for (std::size_t i = p.source.size(); i > 1; --i)
        std::swap(p.source[i - 1],
                  p.source[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
    for (std::size_t i = 0; i < p.source.size(); ++i)
        p.place[static_cast<std::size_t>(p.source[i])] = static_cast<std::int32_t>(i);
    return p;
}

csr_matrix<double> shuffled_matrix(const csr_matrix<double>& matrix, std::uint64_t seed) {
    return reordered(csr_view<double>(matrix), shuffle(matrix.rows, seed)).matrix;
}

const std::vector<operator_kind> reordered_kinds = [] {
    auto all = testing::different_operators();
    all.insert(all.begin(), operators::automatic);
    return all;
}();

/// Returns the orders that this build and machine have.
std::vector<reordering> built_orders() {
    std::vector<reordering> built;
    for (const reordering order : orders::all)
        if (order->available()) built.push_back(order);
    return built;
}

std::vector<std::pair<operator_kind, reordering>> combinations() {
    std::vector<std::pair<operator_kind, reordering>> all;
    for (const auto kind : reordered_kinds)
        for (const auto order : built_orders()) all.emplace_back(kind, order);
    return all;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (const double e = std::abs(a[i] - b[i]); !(e <= worst)) worst = e;
    return worst;
}

} // namespace

TEST_CASE("reordered matrix: entries, their sources, and back again") {
    for (const auto& entry : testing::battery()) {
        if (entry.matrix.rows != entry.matrix.columns) continue;
        CAPTURE(entry.name);
        const auto order = shuffle(entry.matrix.rows, 21);
        const auto there = reordered(csr_view<double>(entry.matrix), order);
        CHECK_NOTHROW(validate(there.matrix));
        CHECK(canonical(there.matrix) == canonical(entry.matrix));
        for (std::size_t k = 0; k < there.entry_source.size(); ++k)
            CHECK(there.matrix.values[k] ==
                  entry.matrix.values[static_cast<std::size_t>(there.entry_source[k])]);
        const auto back =
            reordered(csr_view<double>(there.matrix), permutation{order.place, order.source});
        CHECK(back.matrix.row_offsets == entry.matrix.row_offsets);
        if (!canonical(entry.matrix)) continue;
        CHECK(back.matrix.column_indices == entry.matrix.column_indices);
        CHECK(back.matrix.values == entry.matrix.values);
    }
}

KRYLITH_GROUP_TEST("reordering: products, uploads and diagonals in the caller's order") {
    for (const auto& entry : testing::battery()) {
        if (entry.matrix.rows != entry.matrix.columns) continue;
        for (const auto& combination : combinations()) { // clang 14: bindings can't be captured
            const auto kind = combination.first;
            const auto order = combination.second;
            CAPTURE(entry.name);
            CAPTURE(testing::name_of(kind));
            CAPTURE(testing::name_of(order));
            const auto a = make_operator(group, entry.matrix, {.kind = kind, .order = order});
            const auto x0 = random_values<double>(entry.matrix.rows, 22);
            auto x = a->make_domain_vector();
            x.upload(x0);
            CHECK(values_of(x) == x0);
            auto y = a->make_range_vector();
            execution run(group, {});
            put_ghosts(run, x);
            multiply(run, *a, x, y);
            run.flush();
            const auto expected = plain_product(entry.matrix, x0);
            CHECK(difference(values_of(y), expected) <= 1e-12 * (1 + testing::norm(expected)));
            auto d = a->make_range_vector();
            a->diagonal(d);
            CHECK(difference(values_of(d), diagonal(entry.matrix)) <= 1e-13);
        }
    }
}

KRYLITH_GROUP_TEST("reordering: solutions, updates and warm starts as without") {
    const auto matrix = shuffled_matrix(poisson2d<double>(14, 17, random_scaling{4}), 23);
    const auto b = random_values<double>(matrix.rows, 24);
    for (const auto& combination : combinations())
        for (const auto which : {method::cg, method::gmres}) {
            const auto kind = combination.first;
            const auto order = combination.second;
            // GMRES keeps its basis in the operator's order whatever the kind, so one kind
            // suffices.
            if (which == method::gmres && kind != operators::halo) continue;
            CAPTURE(testing::name_of(kind));
            CAPTURE(testing::name_of(order));
            problem<double> plain(group, matrix, b, {.kind = kind});
            problem<double> moved(group, matrix, b, {.kind = kind, .order = order});
            const solver_options options{.rtol = 1e-11, .restart = 60};
            const auto expected = plain.solve_jacobi(which, options);
            const auto result = moved.solve_jacobi(which, options);
            INFO(describe(result));
            CHECK(result.converged());
            CHECK(std::abs(result.iterations - expected.iterations) <= 3);
            CHECK(moved.relative_residual() <= 1.01e-11);
            CHECK(moved.solve_from(moved.solution(), which, {.rtol = 1e-10}).iterations == 0);
            // The second Jacobi comes from the operator's own diagonal.
            const auto again = testing::solve(which, *moved.a, moved.b, moved.x, options,
                                              jacobi<double>(*moved.a));
            CHECK(again.iterations == result.iterations);

            auto values = matrix.values;
            for (double& v : values) v *= 2;
            moved.a->update(values);
            CHECK(moved.solve(which, options).converged());
            auto doubled = moved.solution();
            CHECK(plain.solve(which, options).converged());
            auto once = plain.solution();
            for (double& v : doubled) v *= 2;
            CHECK(difference(doubled, once) <= 1e-7 * testing::norm(once));
        }
}

KRYLITH_GROUP_TEST("reordering: what it cost and brought is told") {
    const auto matrix = shuffled_matrix(poisson2d<double>(20, 60), 25);
    for (const auto order : built_orders()) {
        CAPTURE(testing::name_of(order));
        const auto a = make_operator(group, matrix, {.order = order});
        const reordering_report& report = a->reordered();
        CHECK(report.order == order);
        CHECK(report.seconds > 0);
        CHECK(report.bandwidth_before > 800);
        if (order == orders::rcm || group.size() == 1) CHECK(report.bandwidth_after <= 22);
        CHECK((report.ghosts_before > 0) == (group.size() > 1));
        if (group.size() > 1) CHECK(4 * report.ghosts_after < report.ghosts_before);
        if (group.size() == 1) continue;
        // The report gives the ghosts of operator halo.
        const auto halo = make_operator(group, matrix, {.kind = operators::halo, .order = order});
        std::int64_t received = 0;
        for (int rank = 0; rank < group.size(); ++rank) received += halo->received(rank);
        CHECK(received == report.ghosts_after);
    }
    CHECK(make_operator(group, matrix)->reordered().order == orders::none);
}

KRYLITH_GROUP_TEST("reordering: rows that stay where they are can't be reordered") {
    std::vector<csr_part<double>> parts(static_cast<std::size_t>(group.size()));
    const std::vector<const double*> values(static_cast<std::size_t>(group.size()), nullptr);
    for (const auto order : built_orders()) {
        const std::string name = to_string(order);
        CHECK_THROWS_WITH_AS((void)make_operator<double>(
                                 group, std::span<const csr_part<double>>(parts), {.order = order}),
                             doctest::Contains(("order is " + name).c_str()), usage_error);
        const auto a = make_operator(group, poisson2d<double>(4), {.order = order});
        CHECK_THROWS_WITH_AS(a->update_on_devices(values),
                             doctest::Contains(("reordered (" + name + ")").c_str()), usage_error);
        CHECK_THROWS_WITH_AS(a->update(std::vector<double>(3)), doctest::Contains("3 values"),
                             usage_error);
    }
    // The caller's row 2 has the zero, wherever it lies in the operator.
    auto holed = testing::from_dense({{2, 1, 0, 0}, {1, 2, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 2}});
    for (const auto order : built_orders()) {
        const auto with_hole = make_operator(group, holed, {.order = order});
        CHECK_THROWS_WITH_AS(jacobi<double>(*with_hole, holed), doctest::Contains("row 2"),
                             input_error);
    }
    CHECK_THROWS_AS((void)parse_reordering("rmc"), usage_error);
    CHECK(parse_reordering("rcm") == orders::rcm);
    CHECK(parse_reordering("metis") == orders::metis);
    if (!metis_available())
        CHECK_THROWS_WITH_AS(
            (void)make_operator(group, poisson2d<double>(4), {.order = orders::metis}),
            doctest::Contains("METIS"), usage_error);
    CHECK(std::string(to_string(orders::none)) == "none");
}

} // namespace krylith
