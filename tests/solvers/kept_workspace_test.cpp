// Solves that use what the solve before has left: the bits of a fresh solve, and no allocation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/chebyshev.hpp>
#include <krylith/precond/own_preconditioner.hpp>
#include <krylith/spmv/matrix_free.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/own_preconditioners.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/short_memory.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::every_method;
using testing::live_bytes;
using testing::method;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::short_memory;
using testing::values_of;

namespace {

struct outcome {
    reason why;
    std::int64_t iterations;
    double residual;
    std::vector<double> history;
    std::vector<double> x;

    bool operator==(const outcome& o) const {
        return why == o.why && iterations == o.iterations && residual == o.residual &&
               same_bits(history, o.history) && same_bits(x, o.x);
    }
};

outcome outcome_of(const solve_result& result, const vector<double>& x) {
    return {result.reason, result.iterations, result.true_residual, result.history, values_of(x)};
}

/// What differs from solve to solve.
struct call {
    int values; ///< of the matrix
    int rhs;
    double rtol;
    std::int64_t max_iterations = -1;
    bool guess = false;
    double size = 1; ///< of b
};

const std::vector<call> calls = {
    {1, 11, 1e-8},
    {1, 12, 1e-8},                   // another b
    {2, 12, 1e-10},                  // other values, another tolerance
    {2, 13, 1e-4, -1, true},         // from x0
    {3, 11, 1e-9, 5},                // a limit
    {3, 14, 1e-7, -1, true},         // and on
    {1, 15, 1e-8, -1, false, 1e200}, // squares leave the range: another scaling
    {1, 15, 1e-8},                   //
    {2, 16, 1e-8, 0},                // only a check
    {2, 17, 1e-8, -1, false, 0},     // b = 0
    {1, 18, 1e-8, -1, true, 1e200},  // the start matters little, and is not lost
    {2, 18, 1e-8, -1, true, 0},      //
    {3, 11, 1e-8},
};

csr_matrix<double> matrix_of(int values) {
    return poisson2d<double>(9, 8, random_scaling{static_cast<std::uint64_t>(values)});
}

/// Solves all calls with one operator and preconditioner, and each with new ones.
class series {
public:
    /// `make` makes the preconditioner of an operator; `update` gives it new values.
    using maker = std::function<any_preconditioner<double>(const matrix_operator<double>&,
                                                           const csr_matrix<double>&)>;

    series(const device_group& group, operator_kind kind, maker make)
        : group_(group),
          kind_(kind),
          make_(std::move(make)),
          a_(make_operator(group, matrix_of(1), {.kind = kind})),
          m_(make_(*a_, matrix_of(1))),
          b_(a_->make_range_vector()),
          x_(a_->make_range_vector()) {}

    void
    compare(const call& c, solver_options options,
            const std::function<solve_result(const matrix_operator<double>&, const vector<double>&,
                                             vector<double>&, const solver_options&,
                                             const any_preconditioner<double>&)>& solve) {
        options.rtol = c.rtol;
        options.max_iterations = c.max_iterations;
        options.initial_guess = c.guess;
        const auto matrix = matrix_of(c.values);
        auto rhs = random_values<double>(matrix.rows, static_cast<std::uint64_t>(c.rhs));
        for (double& v : rhs) v *= c.size;
        const auto x0 = random_values<double>(matrix.rows, static_cast<std::uint64_t>(c.rhs + 1));

        const auto fresh = make_operator(group_, matrix, {.kind = kind_});
        const auto fresh_m = make_(*fresh, matrix);
        auto fresh_b = testing::make_range_vector(fresh->layout(), rhs);
        auto fresh_x = testing::make_range_vector(fresh->layout(), x0);
        const auto expected =
            outcome_of(solve(*fresh, fresh_b, fresh_x, options, fresh_m), fresh_x);

        a_->update(matrix.values);
        if (!m_.is_identity() && m_.name() != "own") m_.update(matrix);
        b_.upload(rhs);
        x_.upload(x0);
        const auto found = outcome_of(solve(*a_, b_, x_, options, m_), x_);
        CHECK(found == expected);
        CHECK(found.iterations == expected.iterations);
    }

    [[nodiscard]] const matrix_operator<double>& a() const { return *a_; }
    [[nodiscard]] const any_preconditioner<double>& m() const { return m_; }

private:
    device_group group_;
    operator_kind kind_;
    maker make_;
    std::unique_ptr<matrix_operator<double>> a_;
    any_preconditioner<double> m_;
    vector<double> b_;
    vector<double> x_;
};

any_preconditioner<double> none(const matrix_operator<double>&, const csr_matrix<double>&) {
    return {};
}
any_preconditioner<double> make_jacobi(const matrix_operator<double>& a,
                                       const csr_matrix<double>& matrix) {
    return jacobi<double>(a, matrix);
}
any_preconditioner<double> make_chebyshev(const matrix_operator<double>& a,
                                          const csr_matrix<double>& matrix) {
    return chebyshev<double>(a, matrix, {.degree = 4});
}
any_preconditioner<double> make_own(const matrix_operator<double>& a, const csr_matrix<double>&) {
    if (a.comm().kind() == backend::cuda)
        return make_preconditioner(a,
                                   [](const preconditioner_call<double>& c) {
                                       for (std::int64_t i = 0; i < c.rows.size(); ++i)
                                           c.z[i] = 0.25 * c.r[i];
                                   },
                                   {.kind = preconditioner_kind::on_host});
    return make_preconditioner(a, [](const preconditioner_call<double>& c) {
        for (std::int64_t i = 0; i < c.rows.size(); ++i) c.z[i] = 0.25 * c.r[i];
    });
}

} // namespace

KRYLITH_GROUP_TEST("kept workspace: every solve has the bits of a fresh one") {
    for (const auto kind : {operators::halo, operators::nz})
        for (const auto which : every_method)
            for (const auto& make : {none, make_jacobi, make_chebyshev, make_own})
                for (const auto on_side : {side::right, side::left, side::split}) {
                    if (!which.row->has_sides && on_side != side::right) continue;
                    const bool splits = make == none || make == make_jacobi;
                    if (on_side == side::split && !splits) continue;
                    if (!testing::worth_running(which, kind)) continue;
                    series s(group, kind, make);
                    CAPTURE(name_of(kind));
                    CAPTURE(name_of(which));
                    CAPTURE(s.m().name());
                    CAPTURE(static_cast<int>(on_side));
                    for (std::size_t k = 0; k < calls.size(); ++k) {
                        CAPTURE(k);
                        s.compare(
                            calls[k],
                            {.restart = 7,
                             .preconditioning = on_side,
                             .history = k % 3 == 2,
                             .unroll = 3},
                            [&](const auto& a, const auto& b, auto& x, const auto& options,
                                const auto& m) { return which.row->solve(a, b, x, options, m); });
                    }
                }
}

KRYLITH_GROUP_TEST("kept workspace: a start that is good enough is returned as it is") {
    const auto matrix = matrix_of(1);
    const auto rhs = random_values<double>(matrix.rows, 51);
    for (const auto which : every_method) {
        CAPTURE(name_of(which));
        problem<double> p(group, matrix, rhs);
        REQUIRE(p.solve(which, {.rtol = 1e-10, .restart = 7}).converged());
        const auto x = p.solution();
        for (int round = 0; round < 3; ++round) {
            const auto again = p.solve(which, {.rtol = 1e-8, .restart = 7, .initial_guess = true});
            CHECK(again.reason == reason::converged_rtol);
            CHECK(again.iterations == 0);
            CHECK(again.relative_residual() <= 1.1e-10);
            CHECK(same_bits(p.solution(), x));
            problem<double> fresh(group, matrix, rhs);
            const auto expected = fresh.solve_from(x, which, {.rtol = 1e-8, .restart = 7});
            CHECK(again.true_residual == expected.true_residual);
            CHECK(again.recurrence_residual == expected.recurrence_residual);
            CHECK(same_bits(fresh.solution(), x));
        }
    }
}

KRYLITH_GROUP_TEST("kept workspace: solver objects have the bits of the functions") {
    const auto matrix = matrix_of(1);
    const auto a = make_operator(group, matrix);
    const jacobi<double> m(*a);
    auto x = a->make_range_vector();
    auto expected = a->make_range_vector();
    cg_solver plain(*a, {.rtol = 1e-6});
    cg_solver by_cg(*a, m);
    gmres_solver by_gmres(*a, m, {.restart = 5});
    gmres_cgs2_solver by_gmres_cgs2(*a, m, {.restart = 5});
    bicgstab_solver by_bicgstab(*a, m);
    const auto compare = [&](const solve_result& found, const solve_result& wanted) {
        INFO(describe(found));
        CHECK(found.converged());
        CHECK(found.iterations == wanted.iterations);
        CHECK(same_bits(values_of(x), values_of(expected)));
    };
    for (int k = 0; k < 3; ++k) {
        const auto b = testing::make_range_vector(
            a->layout(), random_values<double>(matrix.rows, static_cast<std::uint64_t>(31 + k)));
        compare(plain(b, x), cg(*a, b, expected, {.rtol = 1e-6}));
        compare(by_cg(b, x), cg(*a, b, expected, {}, m));
        compare(by_gmres(b, x), gmres(*a, b, expected, {.restart = 5}, m));
        compare(by_gmres_cgs2(b, x), gmres_cgs2(*a, b, expected, {.restart = 5}, m));
        compare(by_bicgstab(b, x), bicgstab(*a, b, expected, {}, m));
    }
    plain.options().rtol = 1e-10;
    plain.options().history = true;
    const auto b = testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 35));
    const auto found = plain(b, x);
    compare(found, cg(*a, b, expected, {.rtol = 1e-10}));
    CHECK(found.history.size() == static_cast<std::size_t>(found.iterations) + 1);
}

KRYLITH_GROUP_TEST("kept workspace: the second solve allocates nothing, until it is released") {
    const auto matrix = matrix_of(2);
    const auto a = make_operator(group, matrix);
    const jacobi<double> m(*a);
    const auto b = testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 41));
    auto x = a->make_range_vector();
    for (const auto which : every_method) {
        CAPTURE(name_of(which));
        const auto before = live_bytes(group);
        const auto solve = [&] {
            // The row's preconditioner is made anew in each call, and refers to m.
            CHECK(testing::solve(which, *a, b, x, {.restart = 5}, m).converged());
        };
        solve();
        const auto kept = live_bytes(group);
        for (std::size_t rank = 0; rank < kept.size(); ++rank) CHECK(kept[rank] > before[rank]);
        {
            const short_memory refusing(group, 0);
            solve();
            solve();
            CHECK(refusing.count() == 0);
        }
        CHECK(live_bytes(group) == kept);
        a->release_workspace();
        CHECK(live_bytes(group) == before);
        solve();
        CHECK(live_bytes(group) == kept);
        a->release_workspace();
    }
}

KRYLITH_GROUP_TEST("kept workspace: callbacks of every solve are called") {
    const auto matrix = matrix_of(1);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 42));
    for (int k = 1; k < 4; ++k) {
        std::vector<std::int64_t> seen;
        const auto result = p.solve(
            method::cg, {.callback = [&](const progress& now) { seen.push_back(now.iteration); },
                         .callback_interval = 2 * k});
        CHECK(result.converged());
        REQUIRE(seen.size() >= 2);
        CHECK(seen[1] - seen[0] == 2 * k);
        const auto quiet = p.solve(method::cg);
        CHECK(quiet.iterations == result.iterations);
    }
}

KRYLITH_GROUP_TEST("kept workspace: a preconditioner that is replaced, moved or gone is not used") {
    const auto first = matrix_of(1);
    const auto second = matrix_of(2);
    const auto rhs = random_values<double>(first.rows, 43);
    const auto a = make_operator(group, first);
    const auto other = make_operator(group, second);
    const auto b = testing::make_range_vector(a->layout(), rhs);
    auto x = a->make_range_vector();
    auto expected = a->make_range_vector();
    const auto check = [&](const jacobi<double>& m, const csr_matrix<double>& of) {
        const auto fresh = make_operator(group, first);
        const jacobi<double> fresh_m(*fresh, of);
        const auto fresh_b = testing::make_range_vector(fresh->layout(), rhs);
        auto fresh_x = fresh->make_range_vector();
        const auto wanted = cg(*fresh, fresh_b, fresh_x, {}, fresh_m);
        const auto found = cg(*a, b, x, {}, m);
        CHECK(found.iterations == wanted.iterations);
        CHECK(same_bits(values_of(x), values_of(fresh_x)));
    };
    std::optional<jacobi<double>> m;
    for (int round = 0; round < 6; ++round) { // at the same address
        const auto& of = round % 2 == 0 ? first : second;
        m.emplace(*a, of);
        check(*m, of);
        check(*m, of);
    }
    jacobi<double> moved = std::move(*m);
    check(moved, second);
    moved = jacobi<double>(*a, first);
    check(moved, first);
    std::swap(moved, *(m = jacobi<double>(*a, second)));
    check(moved, second);
    check(*m, first);
    // Two at a time keep a workspace each.
    const jacobi<double> one(*a, first);
    const jacobi<double> two(*a, second);
    for (int round = 0; round < 3; ++round) {
        check(one, first);
        check(two, second);
    }
    moved.update(first);
    check(moved, first);
}

KRYLITH_GROUP_TEST("kept workspace: own parts without an identity are recorded in every solve") {
    const auto matrix = matrix_of(1);
    const auto a = make_operator(group, matrix);
    const auto b = testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 44));
    auto x = a->make_range_vector();
    std::optional<testing::two_steps<double>> m;
    std::int64_t iterations = 0;
    for (int round = 0; round < 20; ++round) {
        m.emplace(*a);
        const auto result = cg(*a, b, x, {}, *m);
        CHECK(result.converged());
        if (round == 0) iterations = result.iterations;
        CHECK(result.iterations == iterations);
    }
    // As many new ones as one likes, though each takes registers of the execution.
    for (int round = 0; round < 30; ++round)
        CHECK(cg(*a, b, x, {}, chebyshev<double>(*a, matrix, {.degree = 3})).converged());
}

KRYLITH_GROUP_TEST("kept workspace: a solve inside a preconditioner has a workspace of its own") {
    const auto matrix = matrix_of(1);
    const auto a = make_operator(group, matrix);
    const auto b = testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 45));
    auto x = a->make_range_vector();
    auto inner_b = a->make_range_vector();
    auto inner_x = a->make_range_vector();
    std::vector<double> z(static_cast<std::size_t>(matrix.rows));
    const auto m =
        make_preconditioner(*a,
                            [&](const preconditioner_call<double>& call) {
                                inner_b.upload({call.r, z.size()});
                                CHECK(cg(*a, inner_b, inner_x, {.rtol = 1e-12}).converged());
                                inner_x.download(z);
                                std::copy(z.begin(), z.end(), call.z);
                            },
                            {.kind = preconditioner_kind::whole_on_host});
    for (int round = 0; round < 3; ++round) {
        const auto result = cg(*a, b, x, {}, m);
        INFO(describe(result));
        CHECK(result.converged());
        CHECK(result.iterations <= 2);
    }
    const auto kept = live_bytes(group);
    CHECK(cg(*a, b, x, {}, m).converged());
    CHECK(live_bytes(group) == kept);
}

KRYLITH_GROUP_TEST("kept workspace: a solve that throws leaves nothing") {
    const auto matrix = matrix_of(1);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 46));
    const auto before = live_bytes(group);
    const auto expected = p.solve(method::cg);
    const auto x = p.solution();
    p.a->release_workspace();
    for (int round = 0; round < 3; ++round) {
        const auto fails = [](const progress&) { throw std::runtime_error("enough"); };
        CHECK_THROWS_WITH_AS((void)p.solve(method::cg, {.callback = fails, .callback_interval = 1}),
                             "enough", std::runtime_error);
        CHECK(live_bytes(group) == before);
        CHECK(p.solve(method::cg).iterations == expected.iterations);
        CHECK(same_bits(p.solution(), x));
        p.a->release_workspace();
    }
    // Infinities in vectors are no start of another solve.
    auto poisoned = random_values<double>(matrix.rows, 46);
    poisoned[3] = std::numeric_limits<double>::infinity();
    for (const auto which : every_method) {
        CAPTURE(name_of(which));
        CHECK(p.solve(which).converged());
        const auto good = p.solution();
        p.b.upload(poisoned);
        CHECK(p.solve(which).reason == reason::not_a_number);
        p.b.upload(random_values<double>(matrix.rows, 46));
        CHECK(p.solve(which).converged());
        CHECK(same_bits(p.solution(), good));
    }
}

KRYLITH_GROUP_TEST("kept workspace: where memory is short it makes room") {
    const auto matrix = matrix_of(1);
    const auto a = make_operator(group, matrix);
    const auto b = testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 47));
    auto x = a->make_range_vector();
    CHECK(gmres(*a, b, x, {.restart = 20}).converged());
    const auto room = live_bytes(group);
    for (int rank = 0; rank < group.size(); ++rank)
        group[rank].ledger().set_guard(
            [most = room[static_cast<std::size_t>(rank)]](const std::string&, std::size_t bytes,
                                                          std::size_t live) {
                if (live + bytes > most) throw device_error("full");
            });
    CHECK(bicgstab(*a, b, x).converged());
    CHECK(gmres(*a, b, x, {.restart = 20}).converged());
    for (int rank = 0; rank < group.size(); ++rank) group[rank].ledger().set_guard({});
}

KRYLITH_GROUP_TEST("kept workspace: threads that solve one after the other") {
    const auto matrix = matrix_of(1);
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 48));
    const auto expected = p.solve(method::cg);
    const auto x = p.solution();
    for (int round = 0; round < 4; ++round)
        std::thread([&] {
            CHECK(p.solve(method::cg).iterations == expected.iterations);
            CHECK(same_bits(p.solution(), x));
        }).join();
}

KRYLITH_GROUP_TEST(
    "kept workspace: a matrix-free operator whose function follows its surroundings") {
    if (group.kind() == backend::cuda) return; // tests/spmv/ has functions with kernels
    const std::int64_t n = 40;
    double shift = 1;
    const auto a = make_matrix_free<double>(
        group, equal_rows(n, group.size()), [&](const product_call<double>& c) {
            for (std::int64_t row = c.rows.begin; row < c.rows.end; ++row) {
                double sum = (2 + shift) * c.x[row];
                if (row > 0) sum -= c.x[row - 1];
                if (row + 1 < n) sum -= c.x[row + 1];
                c.y[row - c.rows.begin] = sum;
            }
        });
    const auto b = testing::make_range_vector(a->layout(), random_values<double>(n, 49));
    auto x = a->make_range_vector();
    for (const double now : {1.0, 3.0, 0.5}) {
        shift = now;
        const auto result = cg(*a, b, x, {.rtol = 1e-10});
        CHECK(result.converged());
        CHECK(result.replacements == 0);
    }
}

TEST_CASE("recording identity: copies and moves are other objects") {
    recording_identity first;
    const recorded_object seen(&first);
    CHECK(seen.is(&first));
    CHECK(seen.lives());
    const recording_identity copy = first;
    CHECK_FALSE(seen.is(&copy));
    CHECK(seen.is(&first));
    first.renew();
    CHECK_FALSE(seen.is(&first));
    const recorded_object again(&first);
    recording_identity moved = std::move(first);
    CHECK_FALSE(again.is(&moved));
    CHECK_FALSE(again.is(&first)); // NOLINT(bugprone-use-after-move)
    CHECK_FALSE(again.lives());
    first = recording_identity();
    CHECK(recorded_object(&first).is(&first));
    CHECK_FALSE(recorded_object().is(&first));
    CHECK_FALSE(recorded_object(nullptr).is(nullptr));
}

} // namespace krylith
