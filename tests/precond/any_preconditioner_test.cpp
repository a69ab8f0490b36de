// A preconditioner that is chosen at run time does what the one that it holds does, bit by bit, and
// none costs what no preconditioner costs.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/own_preconditioners.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::method;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::two_steps;
using testing::values_of;

namespace {

/// Solves with the type of M known to the compiler.
template <class T, class M>
solve_result solve_directly(method which, problem<T>& p, const solver_options& options,
                            const M& m) {
    if (which == method::cg) return cg(*p.a, p.b, p.x, options, m);
    if (which == method::cg_launched) return launched_cg(*p.a, p.b, p.x, options, m);
    if (which == method::bicgstab) return bicgstab(*p.a, p.b, p.x, options, m);
    if (which == method::gmres) return gmres(*p.a, p.b, p.x, options, m);
    REQUIRE(which == method::gmres_cgs2);
    return gmres_cgs2(*p.a, p.b, p.x, options, m);
}

constexpr method directly[] = {method::cg, method::cg_launched, method::bicgstab, method::gmres,
                               method::gmres_cgs2};

/// Solves both ways; compares iterations, histories, solutions and bytes.
template <class T, class M>
void compare_types(problem<T>& p, const M& m, const any_preconditioner<T>& any) {
    for (const method which : directly)
        for (const auto on_side : {side::left, side::right, side::split}) {
            if (!which.row->has_sides && on_side != side::right) continue;
            if (on_side == side::split && !splittable<M> && !std::same_as<M, identity>) continue;
            for (const auto mode : testing::modes_of(*p.a)) {
                CAPTURE(name_of(which));
                CAPTURE(static_cast<int>(on_side));
                const solver_options options{
                    .preconditioning = on_side, .history = true, .mode = mode};
                // Bytes are compared without workspaces of the solves before.
                p.a->release_workspace();
                const solve_result expected = solve_directly(which, p, options, m);
                const std::vector<T> solution = p.solution();
                p.a->release_workspace();
                const solve_result found = solve_directly(which, p, options, any);
                INFO(testing::describe(found));
                CHECK(expected.converged());
                CHECK(found.reason == expected.reason);
                CHECK(found.recorded == expected.recorded);
                CHECK(same_bits(found.history, expected.history));
                CHECK(same_bits(p.solution(), solution));
                CHECK(found.bytes == expected.bytes); // so none keeps no vector for z
            }
        }
}

template <class T>
void compare_all(const device_group& group) {
    const auto matrix = testing::converted<T>(poisson2d<double>(11, 9, random_scaling{3}));
    const auto b = random_values<T>(matrix.rows, 211);
    for (const auto kind : {operators::halo, operators::nz, operators::allgather}) {
        CAPTURE(name_of(kind));
        problem<T> p(group, matrix, b, {.kind = kind});
        const jacobi<T> m(*p.a);
        compare_types(p, m, any_preconditioner<T>(std::cref(m)));
        compare_types(p, identity{}, any_preconditioner<T>());
        const two_steps<T> own(*p.a);
        compare_types(p, own, any_preconditioner<T>(std::cref(own)));
    }
}

} // namespace

KRYLITH_GROUP_TEST("any preconditioner: the bits of the one that it holds, or of none") {
    compare_all<double>(group);
    compare_all<float>(group);
}

KRYLITH_GROUP_TEST(
    "any preconditioner: it owns, and may be moved while a solver's terms refer to it") {
    const auto matrix = poisson2d<double>(7, 6, random_scaling{2});
    const auto a = make_operator(group, matrix);
    const auto r = testing::make_range_vector(a->layout(), random_values<double>(42, 212));
    auto z = a->make_range_vector();
    any_preconditioner<double> first = jacobi<double>(*a);
    const auto pending = first.pointwise(r);
    REQUIRE(pending.has_value());
    any_preconditioner<double> m = std::move(first);
    execution run(group, {});
    scalar rz(run), again(run);
    fused(run, z = *pending, rz = dot(r, z));
    const auto expected = values_of(z);
    const std::vector<reduction_into<double>> dots = {again = dot(r, z)};
    m.apply(run, r, z, dots);
    CHECK(same_bits(values_of(z), expected));
    CHECK(run.get(rz.number()) == run.get(again.number()));
    CHECK(m.name() == "jacobi");
    CHECK(m.recordable());
    CHECK(m.bytes() == jacobi<double>(*a).bytes());
    CHECK_FALSE(m.is_identity());
}

KRYLITH_GROUP_TEST("any preconditioner: none copies, keeps nothing, and takes any update") {
    const auto matrix = poisson2d<double>(5);
    const auto a = make_operator(group, matrix);
    const auto r = testing::make_range_vector(a->layout(), random_values<double>(25, 213));
    auto z = a->make_range_vector();
    any_preconditioner<double> none;
    CHECK(none.is_identity());
    CHECK(is_identity(none));
    CHECK(any_preconditioner<double>(identity{}).is_identity());
    CHECK(none.square_root().is_identity());
    CHECK(none.bytes() == 0);
    CHECK(none.name() == "none");
    CHECK(none.recordable());
    none.update(*a);
    none.update(matrix);
    execution run(group, {});
    scalar rz(run);
    const std::vector<reduction_into<double>> dots = {rz = dot(r, z)};
    none.apply(run, r, z, dots);
    CHECK(same_bits(values_of(z), values_of(r)));
    CHECK(run.get(rz.number()) > 0);
}

// What a solver multiplies next must have its ghosts, by whatever means it was written.
KRYLITH_GROUP_TEST("any preconditioner: a domain vector that it writes has its ghosts") {
    const auto matrix = poisson2d<double>(9, 8, random_scaling{6});
    for (const auto kind : {operators::halo, operators::allgather, operators::pcsr}) {
        CAPTURE(name_of(kind));
        const auto a = make_operator(group, matrix, {.kind = kind});
        const auto r = testing::make_range_vector(a->layout(), random_values<double>(72, 214));
        any_preconditioner<double> ms[3];
        ms[1] = jacobi<double>(*a);
        ms[2] = two_steps<double>(*a);
        for (const auto& m : ms) {
            CAPTURE(m.name());
            execution run(group, {});
            auto z = a->make_domain_vector();
            auto copy = a->make_domain_vector();
            auto found = a->make_range_vector();
            auto expected = a->make_range_vector();
            m.apply(run, r, z);
            multiply(run, *a, z, found);
            copy.upload(values_of(z));
            put_ghosts(run, copy);
            multiply(run, *a, copy, expected);
            CHECK(same_bits(values_of(found), values_of(expected)));
        }
    }
}

KRYLITH_GROUP_TEST("any preconditioner: update takes new values, or is refused by name") {
    const auto first = poisson2d<double>(8, random_scaling{1});
    const auto second = poisson2d<double>(8, random_scaling{2});
    const auto b = random_values<double>(first.rows, 215);
    problem<double> fresh(group, second, b);
    CHECK(fresh.solve_jacobi(method::cg).converged());
    for (const bool from_host : {false, true}) {
        problem<double> p(group, first, b);
        jacobi<double> owned(*p.a);
        any_preconditioner<double> any = std::ref(owned);
        CHECK(cg(*p.a, p.b, p.x, {}, any).converged());
        p.a->update(second.values);
        if (from_host)
            any.update(second);
        else
            any.update(*p.a);
        CHECK(cg(*p.a, p.b, p.x, {}, any).converged());
        CHECK(same_bits(p.solution(), fresh.solution()));
    }
    problem<double> p(group, first, b);
    any_preconditioner<double> own = two_steps<double>(*p.a);
    CHECK_THROWS_WITH_AS(own.update(*p.a),
                         "preconditioner two steps of Jacobi can't take new values of an operator: "
                         "make it anew",
                         usage_error);
    CHECK_THROWS_WITH_AS(own.update(first), doctest::Contains("new values of a matrix"),
                         usage_error);
    const jacobi<double> fixed(*p.a);
    any_preconditioner<double> borrowed = std::cref(fixed);
    CHECK_THROWS_AS(borrowed.update(*p.a), usage_error);
    // Refused values change nothing.
    any_preconditioner<double> m = jacobi<double>(*p.a);
    auto zeros = first;
    zeros.values.assign(zeros.values.size(), 0);
    CHECK_THROWS_AS(m.update(zeros), input_error);
    CHECK(cg(*p.a, p.b, p.x, {}, m).converged());
}

KRYLITH_GROUP_TEST("any preconditioner: split needs a square root, and says so") {
    const auto matrix = poisson2d<double>(6);
    problem<double> p(group, matrix, random_values<double>(36, 216));
    const any_preconditioner<double> own = two_steps<double>(*p.a);
    for (const auto which : testing::general_methods) {
        if (!which.row->has_sides) continue;
        const solver_options options{.preconditioning = side::split};
        CHECK_THROWS_WITH_AS((void)testing::solve(which, *p.a, p.b, p.x, options, own),
                             "preconditioner two steps of Jacobi can't be split, since it has no "
                             "square root: use left or right",
                             usage_error);
    }
    const any_preconditioner<double> m = jacobi<double>(*p.a);
    CHECK(m.square_root().name() == "jacobi");
}

KRYLITH_GROUP_TEST("any preconditioner: one that can't be recorded runs eagerly") {
    const auto matrix = poisson2d<double>(8, 7, random_scaling{4});
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 217));
    const testing::unrecordable<double> own(*p.a);
    for (const auto which : testing::every_method) {
        CAPTURE(name_of(which));
        const auto result = testing::solve(which, *p.a, p.b, p.x, {}, own);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK_FALSE(result.recorded);
        CHECK_THROWS_WITH_AS(
            (void)testing::solve(which, *p.a, p.b, p.x, {.mode = execution_mode::recorded}, own),
            "preconditioner unrecordable can't be recorded: use mode automatic or "
            "eager",
            usage_error);
    }
}

} // namespace krylith
