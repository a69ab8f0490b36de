// A user's own function as a preconditioner: its entries, ghosts and dot products, what it must not
// depend on, and what happens when it fails.
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/any_preconditioner.hpp>
#include <krylith/precond/own_preconditioner.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::describe;
using testing::general_methods;
using testing::laplace_1d;
using testing::modes_of;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::values_of;

namespace {

constexpr operator_kind operator_kinds[] = {operators::halo, operators::allgather, operators::nz,
                                            operators::two_nz, operators::pcsr};

/// The kinds of function that compute from host memory, as those of these tests do.
std::vector<preconditioner_kind> kinds_of_host(const device_group& group) {
    if (group.kind() == backend::cuda)
        return {preconditioner_kind::on_host, preconditioner_kind::whole_on_host};
    return {preconditioner_kind::on_device, preconditioner_kind::on_host,
            preconditioner_kind::whole_on_host};
}

/// The number of row `row` as a function that tells rows from each other.
double weight(std::int64_t row) {
    return 1.0 / (2.0 + static_cast<double>(row % 7));
}

template <class T>
void weigh(const preconditioner_call<T>& call) {
    for (std::int64_t i = 0; i < call.rows.size(); ++i)
        call.z[i] = static_cast<T>(weight(call.rows.begin + i)) * call.r[i];
}

/// z = 2 r - r of both neighbours, with the ghosts of the plan.
preconditioner_function<double> neighbours(const halo_plan& plan) {
    return [plan](const preconditioner_call<double>& call) {
        const local_indices& columns = plan.columns.local(call.rank);
        const std::int64_t n = plan.rows.rows();
        const auto r = [&](std::int64_t row) {
            if (row < 0 || row == n) return 0.0;
            if (columns.local(row) < 0) throw std::logic_error("not a ghost");
            return call.r[columns.local(row) - columns.first_owned()];
        };
        for (std::int64_t row = call.rows.begin; row < call.rows.end; ++row)
            call.z[row - call.rows.begin] = 2 * r(row) - r(row - 1) - r(row + 1);
    };
}

/// -Laplace u + c (u_x + u_y) on 30 x 30 points, central differences: like pde900, 900 rows.
csr_matrix<double> convection_900() {
    constexpr std::int32_t n = 30;
    constexpr double c = 0.4;
    csr_matrix<double> a;
    a.rows = a.columns = n * n;
    a.row_offsets = {0};
    const auto add = [&](bool there, std::int32_t column, double value) {
        if (!there) return;
        a.column_indices.push_back(column);
        a.values.push_back(value);
    };
    for (std::int32_t j = 0; j < n; ++j)
        for (std::int32_t i = 0; i < n; ++i) {
            const std::int32_t row = j * n + i;
            add(j > 0, row - n, -1 - c);
            add(i > 0, row - 1, -1 - c);
            add(true, row, 4.0);
            add(i < n - 1, row + 1, -1 + c);
            add(j < n - 1, row + n, -1 + c);
            a.row_offsets.push_back(static_cast<std::int64_t>(a.values.size()));
        }
    return a;
}

/// M = (D + L) D^-1 (D + U), from all rows in one call.
template <class T>
preconditioner_function<T> symmetric_gauss_seidel(const csr_matrix<T>& a) {
    return [a](const preconditioner_call<T>& call) {
        const auto sweep = [&](std::int64_t row, bool lower) {
            T sum{};
            T d{};
            for (auto k = a.row_offsets[static_cast<std::size_t>(row)];
                 k < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
                const std::int64_t column = a.column_indices[static_cast<std::size_t>(k)];
                const T value = a.values[static_cast<std::size_t>(k)];
                if (column == row) d = value;
                if (lower ? column < row : column > row) sum += value * call.z[column];
            }
            call.z[row] = lower ? (call.r[row] - sum) / d : call.z[row] - sum / d;
        };
        for (std::int64_t row = 0; row < a.rows; ++row) sweep(row, true);
        for (std::int64_t row = a.rows; row-- > 0;) sweep(row, false);
    };
}

const preconditioner_kind whole = preconditioner_kind::whole_on_host;
const preconditioner_kind local = preconditioner_kind::local_on_host;

} // namespace

KRYLITH_GROUP_TEST("own preconditioner: z, its ghosts and dot products, any layout") {
    for (const std::int64_t n : {1, 5, 300})
        for (const auto kind : operator_kinds) {
            const auto matrix = laplace_1d(n);
            const auto a = make_operator(group, matrix, {.kind = kind});
            const auto plan =
                make_halo_plan(matrix.row_offsets, matrix.column_indices, a->layout()->rows);
            const auto r0 = random_values<double>(n, 71);
            auto kinds = kinds_of_host(group);
            kinds.push_back(local);
            for (const auto how : kinds)
                for (const bool with_ghosts : {false, true}) {
                    if (with_ghosts && (how == whole || how == local)) continue;
                    if (how == local && a->layout()->kind == coherence::replicated) {
                        CHECK_THROWS_WITH_AS(
                            (void)make_preconditioner(*a, weigh<double>, {.kind = how}),
                            doctest::Contains("must be owned vectors"), usage_error);
                        continue;
                    }
                    CAPTURE(n);
                    CAPTURE(name_of(kind));
                    CAPTURE(static_cast<int>(how));
                    CAPTURE(with_ghosts);
                    const auto m =
                        with_ghosts ? make_preconditioner(*a, plan, neighbours(plan), {.kind = how})
                                    : make_preconditioner(*a, weigh<double>, {.kind = how});
                    std::vector<double> expected(r0.size());
                    for (std::size_t i = 0; i < r0.size(); ++i)
                        expected[i] = weight(static_cast<std::int64_t>(i)) * r0[i];
                    if (with_ghosts)
                        for (std::size_t i = 0; i < r0.size(); ++i)
                            expected[i] = 2 * r0[i] - (i > 0 ? r0[i - 1] : 0.0) -
                                          (i + 1 < r0.size() ? r0[i + 1] : 0.0);
                    double rz = 0;
                    double zz = 0;
                    for (std::size_t i = 0; i < r0.size(); ++i) {
                        rz += r0[i] * expected[i];
                        zz += expected[i] * expected[i];
                    }
                    execution run(group, {.mode = execution_mode::eager});
                    const auto r = testing::make_range_vector(a->layout(), r0);
                    auto z = a->make_domain_vector();
                    auto y = a->make_range_vector();
                    testing::fill(z, std::nan(""));
                    scalar first(run), second(run), third(run);
                    precondition<double>(run, m, r, z, first = dot(r, z), second = dot(z, z),
                                         third = dot(z, r));
                    a->apply(run, 1.0, z, 0.0, y);
                    run.flush();
                    CHECK(values_of(z) == expected);
                    CHECK(testing::copies_agree(z));
                    CHECK(run.get(first.number()) == doctest::Approx(rz).epsilon(1e-13));
                    CHECK(run.get(second.number()) == doctest::Approx(zz).epsilon(1e-13));
                    CHECK(run.get(third.number()) == doctest::Approx(rz).epsilon(1e-13));
                    // The product reads z's ghosts.
                    auto same = a->make_range_vector();
                    auto domain = a->make_domain_vector();
                    const auto source = testing::make_range_vector(a->layout(), expected);
                    fused(run, domain = source);
                    a->apply(run, 1.0, domain, 0.0, same);
                    run.flush();
                    CHECK(same_bits(values_of(y), values_of(same)));
                    // One dot product, and r a domain vector that others read as well.
                    fused(run, domain = r);
                    precondition<double>(run, m, domain, y, first = dot(domain, y));
                    a->apply(run, 1.0, domain, 0.0, same);
                    run.flush();
                    CHECK(values_of(y) == expected);
                    CHECK(run.get(first.number()) == doctest::Approx(rz).epsilon(1e-13));
                }
        }
}

KRYLITH_GROUP_TEST("own preconditioner: the diagonal as a function is Jacobi") {
    const auto matrix = poisson2d<double>(13, 11, random_scaling{9});
    const auto b = random_values<double>(matrix.rows, 72);
    const auto inverse = [&] {
        std::vector<double> d = diagonal(csr_view<double>(matrix));
        for (double& v : d) v = 1 / v;
        return d;
    }();
    for (const auto kind : operator_kinds)
        for (const auto which : testing::all_methods) {
            if (!testing::worth_running(which, kind)) continue;
            problem<double> p(group, matrix, b, {.kind = kind});
            const auto expected = p.solve_jacobi(which);
            for (const auto how : kinds_of_host(group)) {
                const auto m = make_preconditioner(
                    *p.a,
                    [&](const preconditioner_call<double>& call) {
                        for (std::int64_t i = 0; i < call.rows.size(); ++i)
                            call.z[i] =
                                inverse[static_cast<std::size_t>(call.rows.begin + i)] * call.r[i];
                    },
                    {.kind = how, .name = "diagonal"});
                for (const auto at : {side::left, side::right}) {
                    CAPTURE(name_of(kind));
                    CAPTURE(name_of(which));
                    CAPTURE(static_cast<int>(how));
                    std::vector<double> bits;
                    auto modes = modes_of(*p.a);
                    if (!m.recordable()) modes = {execution_mode::eager};
                    modes.push_back(execution_mode::automatic);
                    for (const auto mode : modes) {
                        const auto result = testing::solve(
                            which, *p.a, p.b, p.x, {.preconditioning = at, .mode = mode}, m);
                        INFO(describe(result));
                        CHECK(result.converged());
                        if (at == side::right)
                            CHECK(std::abs(result.iterations - expected.iterations) <= 1);
                        if (mode == execution_mode::recorded) CHECK(result.recorded);
                        if (!m.recordable()) CHECK(!result.recorded);
                        CHECK(p.relative_residual() <= 1.01e-8);
                        if (bits.empty()) bits = p.solution();
                        CHECK(same_bits(bits, p.solution()));
                    }
                }
            }
        }
}

KRYLITH_GROUP_TEST("own preconditioner: SSOR takes as many iterations as on one device") {
    const auto matrix = convection_900();
    const auto b = random_values<double>(matrix.rows, 73);
    const auto one = device_group::host(1);
    problem<double> alone(one, matrix, b);
    const auto m_alone =
        make_preconditioner(*alone.a, symmetric_gauss_seidel(matrix), {.kind = whole});
    for (const auto which : general_methods)
        for (const auto at : {side::left, side::right}) {
            const solver_options options{.restart = 60, .preconditioning = at};
            const auto plain = alone.solve(which, options);
            const auto expected =
                testing::solve(which, *alone.a, alone.b, alone.x, options, m_alone);
            REQUIRE(expected.converged());
            CHECK(2 * expected.iterations < plain.iterations);
            for (const auto kind : operator_kinds) {
                if (!testing::worth_running(which, kind)) continue;
                CAPTURE(name_of(which));
                CAPTURE(name_of(kind));
                problem<double> p(group, matrix, b, {.kind = kind});
                const any_preconditioner<double> m(make_preconditioner(
                    *p.a, symmetric_gauss_seidel(matrix), {.kind = whole, .name = "ssor"}));
                const auto result = testing::solve(which, *p.a, p.b, p.x, options, m);
                INFO(describe(result));
                CHECK(result.converged());
                CHECK(result.iterations == expected.iterations);
                CHECK(p.relative_residual() <= 1.01e-8);
            }
        }
}

KRYLITH_GROUP_TEST("own preconditioner: whole vectors come in the caller's order of rows") {
    const auto matrix = poisson2d<double>(12, 17, random_scaling{4});
    const auto b = random_values<double>(matrix.rows, 74);
    std::vector<std::int64_t> iterations;
    for (const auto order : {orders::none, orders::rcm}) {
        problem<double> p(group, matrix, b, {.kind = operators::halo, .order = order});
        const auto m = make_preconditioner(*p.a, symmetric_gauss_seidel(matrix), {.kind = whole});
        const auto result = testing::solve(testing::method::cg, *p.a, p.b, p.x, {}, m);
        REQUIRE(result.converged());
        CHECK(p.relative_residual() <= 1.01e-8);
        iterations.push_back(result.iterations);
    }
    CHECK(iterations[0] == iterations[1]);
}

KRYLITH_GROUP_TEST("own preconditioner: single precision") {
    const auto matrix = poisson2d<float>(15, 9);
    const auto b = random_values<float>(matrix.rows, 75);
    for (const auto kind : {operators::halo, operators::nz}) {
        problem<float> p(group, matrix, b, {.kind = kind});
        const auto plain = p.solve(testing::method::cg, {.rtol = 1e-5});
        for (const auto how : kinds_of_host(group)) {
            const auto m = make_preconditioner(*p.a, weigh<float>, {.kind = how});
            auto r = testing::make_range_vector(p.a->layout(), b);
            auto z = p.a->make_range_vector();
            execution run(group, {.mode = execution_mode::eager});
            precondition<float>(run, m, r, z);
            run.flush();
            auto expected = b;
            for (std::size_t i = 0; i < b.size(); ++i)
                expected[i] = static_cast<float>(weight(static_cast<std::int64_t>(i))) * b[i];
            CHECK(values_of(z) == expected);
        }
        const auto m = make_preconditioner(*p.a, symmetric_gauss_seidel(matrix), {.kind = whole});
        const auto result = testing::solve(testing::method::cg, *p.a, p.b, p.x, {.rtol = 1e-5}, m);
        CHECK(result.converged());
        CHECK(result.iterations < plain.iterations);
    }
}

TEST_CASE(
    "own preconditioner: an exception of the function ends the solve, and the next one runs") {
    const auto matrix = laplace_1d(40);
    const auto b = random_values<double>(40, 76);
    for (const int devices : {1, 3})
        for (const auto kind : {operators::halo, operators::nz})
            for (const auto how : {preconditioner_kind::on_device, whole}) {
                CAPTURE(devices);
                CAPTURE(name_of(kind));
                CAPTURE(static_cast<int>(how));
                const auto group = device_group::host(devices);
                problem<double> p(group, matrix, b, {.kind = kind});
                std::atomic<int> calls_left = how == whole ? 7 : 7 * devices;
                const auto m =
                    make_preconditioner(*p.a,
                                        [&](const preconditioner_call<double>& call) {
                                            if (--calls_left == 0)
                                                throw std::runtime_error("the user's mistake");
                                            weigh<double>(call);
                                        },
                                        {.kind = how});
                const auto solve = [&](double timeout) {
                    return cg(*p.a, p.b, p.x, {.timeout_seconds = timeout}, m);
                };
                if (how == whole)
                    CHECK_THROWS_WITH_AS((void)solve(0.2), "the user's mistake",
                                         std::runtime_error);
                else
                    CHECK_THROWS_AS((void)solve(0.2), error);
                try {
                    group.synchronize();
                } catch (const error&) { // NOLINT(bugprone-empty-catch): a second device's report
                }
                calls_left = 1'000'000'000;
                bool converged = false;
                CHECK_NOTHROW(converged = solve(2).converged());
                CHECK(converged);
            }
}

KRYLITH_GROUP_TEST("own preconditioner: what it says of itself, and what is refused") {
    const auto matrix = poisson2d<double>(6, 5);
    const auto b = std::vector<double>(30, 1.0);
    for (const auto kind : {operators::halo, operators::nz}) {
        problem<double> p(group, matrix, b, {.kind = kind});
        CHECK_THROWS_WITH_AS((void)make_preconditioner(*p.a, nullptr, {.name = "mine"}),
                             "make_preconditioner: the function of \"mine\" is empty", usage_error);
        const auto plan =
            make_halo_plan(matrix.row_offsets, matrix.column_indices, p.a->layout()->rows);
        CHECK_THROWS_AS((void)make_preconditioner(*p.a, plan, weigh<double>, {.kind = whole}),
                        usage_error);
        const auto other = make_halo_plan(matrix.row_offsets, matrix.column_indices,
                                          equal_rows(30, group.size() + 1));
        CHECK_THROWS_AS((void)make_preconditioner(*p.a, other, weigh<double>), usage_error);

        const auto how = kinds_of_host(group).front();
        const auto m =
            make_preconditioner(*p.a, weigh<double>, {.kind = how, .name = "mine", .bytes = 1000});
        CHECK(m.name() == "mine");
        std::int64_t most = 0;
        for (int rank = 0; rank < group.size(); ++rank)
            most = std::max(most, p.a->layout()->rows.owned(rank).size());
        CHECK(m.bytes() == 1000 + 8 * most);
        CHECK(m.recordable() == (group.kind() == backend::host && p.a->recordable()));
        const auto sweeps = make_preconditioner(*p.a, weigh<double>, {.kind = whole});
        CHECK(!sweeps.recordable());
        CHECK(sweeps.name() == "own");
        CHECK_THROWS_AS((void)testing::solve(testing::method::gmres, *p.a, p.b, p.x,
                                             {.mode = execution_mode::recorded}, sweeps),
                        usage_error);
        CHECK_THROWS_AS((void)testing::solve(testing::method::gmres, *p.a, p.b, p.x,
                                             {.preconditioning = side::split}, m),
                        usage_error);
        problem<double> q(group, matrix, b, {.kind = kind});
        CHECK_THROWS_AS((void)testing::solve(testing::method::cg, *q.a, q.b, q.x, {}, m),
                        usage_error);
    }
}

static_assert(applied_preconditioner<own_preconditioner<double>, double>);
static_assert(applied_preconditioner<own_preconditioner<float>, float>);
static_assert(!pointwise_preconditioner<own_preconditioner<double>, double>);

} // namespace krylith
