// Chebyshev preconditioning: the polynomial against textbook recurrences on dense matrices, and
// what solvers get from it.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/chebyshev.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/cg.hpp>

#include <krylith/tests/support/dense.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::one_device_like;
using testing::problem;
using testing::random_values;
using testing::same_bits;
using testing::to_eigen;
using testing::values_of;

namespace {

constexpr auto first = chebyshev_kind::first;
constexpr auto fourth = chebyshev_kind::fourth;
constexpr auto fp64 = chebyshev_precision::fp64;

/// z by the recurrences of the literature, in double: Saad, algorithm 12.1, from z = 0, and
/// Phillips and Fischer, algorithm 3.
Eigen::VectorXd textbook(const csr_matrix<double>& matrix, const Eigen::VectorXd& r, double lambda,
                         const chebyshev_options& o) {
    const Eigen::MatrixXd a = to_eigen(matrix);
    const Eigen::VectorXd inverse = a.diagonal().cwiseInverse();
    Eigen::VectorXd z = Eigen::VectorXd::Zero(r.size());
    Eigen::VectorXd rest = r;
    if (o.kind == fourth) {
        Eigen::VectorXd d = 4 / (3 * lambda) * inverse.cwiseProduct(rest);
        for (int i = 1; i <= o.degree; ++i) {
            z += d;
            rest -= a * d;
            d = (2 * i - 1.0) / (2 * i + 3.0) * d +
                (8 * i + 4.0) / ((2 * i + 3.0) * lambda) * inverse.cwiseProduct(rest);
        }
        return z;
    }
    const double theta = (lambda + lambda / o.ratio) / 2;
    const double delta = (lambda - lambda / o.ratio) / 2;
    const double sigma = theta / delta;
    double rho = 1 / sigma;
    Eigen::VectorXd d = 1 / theta * inverse.cwiseProduct(rest);
    for (int i = 1; i <= o.degree; ++i) {
        z += d;
        rest -= a * d;
        const double next = 1 / (2 * sigma - rho);
        d = next * rho * d + 2 * next / delta * inverse.cwiseProduct(rest);
        rho = next;
    }
    return z;
}

csr_matrix<double> specimen() {
    return poisson2d<double>(13, 9, random_scaling{5});
}

template <class T>
void compare_with_textbook(const device_group& group, const operator_options& how,
                           const chebyshev_options& o, double tolerance) {
    CAPTURE(o.degree);
    CAPTURE(static_cast<int>(o.kind));
    const auto matrix = specimen();
    const auto own = testing::converted<T>(matrix);
    const auto a = make_operator(group, own, how);
    const chebyshev<T> m(*a, csr_view<T>(own), o);
    const auto values = random_values<T>(matrix.rows, 31);
    const auto r = testing::make_range_vector(a->layout(), values);
    auto z = a->make_domain_vector();
    auto y = a->make_range_vector();
    execution run(group, {});
    scalar rz(run), yz(run);
    testing::fill(y, T(1));
    const reduction_into<T> dots[] = {rz = dot(r, z), yz = dot(y, z)};
    const Eigen::VectorXd expected = textbook(matrix, to_eigen(values), m.lambda(), m.options());
    for (const int given : {0, 1, 2}) {
        CAPTURE(given);
        m.apply(run, r, z, std::span(dots).first(static_cast<std::size_t>(given)));
        const Eigen::VectorXd found = to_eigen(values_of(z));
        CHECK((found - expected).norm() <= tolerance * expected.norm());
        const double size = expected.norm() * to_eigen(values).norm();
        if (given >= 1)
            CHECK(std::fabs(run.get(rz.number()) - found.dot(to_eigen(values))) <= 1e-6 * size);
        if (given == 2)
            CHECK(std::fabs(run.get(yz.number()) - found.sum()) <= 1e-5 * expected.lpNorm<1>());
    }
    a->apply(run, T(1), z, T(0), y); // z's ghosts have been sent
    const Eigen::VectorXd az = to_eigen(matrix) * to_eigen(values_of(z));
    CHECK((to_eigen(values_of(y)) - az).norm() <= 1e-5 * az.norm());
}

solve_result cg_with(const std::string& text, problem<double>& p, const csr_matrix<double>& matrix,
                     const solver_options& options = {}) {
    const auto m = make_preconditioner(text, *p.a, csr_view<double>(matrix));
    return cg(*p.a, p.b, p.x, options, m);
}

} // namespace

KRYLITH_GROUP_TEST("chebyshev: an application is the polynomial of the literature") {
    for (const int degree : {1, 2, 3, 4, 5, 8, 17})
        for (const auto kind : {first, fourth}) {
            chebyshev_options o{.degree = degree, .kind = kind};
            compare_with_textbook<double>(group, {}, o, 1e-5);
            compare_with_textbook<float>(group, {}, o, 1e-4);
            o.precision = fp64;
            compare_with_textbook<double>(group, {}, o, 1e-12);
            o.ratio = 30;
            compare_with_textbook<double>(group, {}, o, 1e-12);
        }
}

KRYLITH_GROUP_TEST("chebyshev: with any operator and order of rows") {
    const chebyshev_options o{.degree = 6, .precision = fp64};
    for (const auto kind : {operators::nz, operators::two_nz, operators::lra_rc,
                            operators::allgather, operators::pcsr, operators::pcsc}) {
        CAPTURE(testing::name_of(kind));
        compare_with_textbook<double>(group, {.kind = kind}, o, 1e-12);
        compare_with_textbook<double>(group, {.kind = kind}, {.degree = 7}, 1e-5);
    }
    compare_with_textbook<double>(group, {.order = orders::rcm}, o, 1e-12);
    compare_with_textbook<double>(group, {.order = orders::rcm}, {.degree = 7}, 1e-5);
}

KRYLITH_GROUP_TEST("chebyshev: M is symmetric and positive") {
    const auto matrix = jump_diffusion<double>(9, 1e5, 3);
    const auto a = make_operator(group, matrix);
    execution run(group, {});
    scalar xy(run), yx(run), xx(run);
    const auto x = testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 1));
    const auto y = testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 2));
    for (const auto kind : {first, fourth}) {
        const chebyshev<double> m(*a, csr_view<double>(matrix), {.degree = 12, .kind = kind});
        auto mx = a->make_range_vector();
        auto my = a->make_range_vector();
        const reduction_into<double> of_x[] = {xy = dot(y, mx), xx = dot(x, mx)};
        const reduction_into<double> of_y[] = {yx = dot(x, my)};
        m.apply(run, x, mx, of_x);
        m.apply(run, y, my, of_y);
        const double size = run.get(xx.number());
        CHECK(size > 0);
        CHECK(std::fabs(run.get(xy.number()) - run.get(yx.number())) <= 1e-5 * size);
    }
}

KRYLITH_GROUP_TEST("chebyshev: CG takes a fraction of its iterations, the same on any devices") {
    const auto matrix = poisson3d<double>(24, 24, 24);
    const std::vector<double> ones(static_cast<std::size_t>(matrix.rows), 1.0);
    problem<double> p(group, matrix, ones);
    problem<double> one(one_device_like(group), matrix, ones);
    const solver_options options{.rtol = 1e-8};
    const auto plain = p.solve(testing::method::cg, options);
    for (const char* const text : {"chebyshev", "chebyshev:degree=8", "chebyshev:degree=5",
                                   "chebyshev:degree=8:precision=fp64", "chebyshev:kind=fourth"}) {
        CAPTURE(text);
        const auto result = cg_with(text, p, matrix, options);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(p.relative_residual() <= 1e-8);
        CHECK(4 * result.iterations <= 1.7 * static_cast<double>(plain.iterations));
        CHECK(result.iterations == cg_with(text, one, matrix, options).iterations);
    }
    CHECK(5 * cg_with("chebyshev", p, matrix, options).iterations <= plain.iterations);
}

KRYLITH_GROUP_TEST("chebyshev: jump coefficients, and a precision that the residual outgrows") {
    const auto matrix = jump_diffusion<double>(12, 1e6, 4, 7);
    const auto rhs = random_values<double>(matrix.rows, 3);
    problem<double> p(group, matrix, rhs);
    const auto jacobi = p.solve_jacobi(testing::method::cg, {.rtol = 1e-12});
    const auto result = cg_with("chebyshev", p, matrix, {.rtol = 1e-12});
    INFO(testing::describe(result));
    CHECK(result.converged());
    CHECK(p.relative_residual() <= 1e-12);
    CHECK(4 * result.iterations <= jacobi.iterations);
}

KRYLITH_GROUP_TEST("chebyshev: systems of any scale take the same iterations") {
    const auto matrix = poisson2d<double>(40, 30, random_scaling{3});
    const auto rhs = random_values<double>(matrix.rows, 4);
    problem<double> usual(group, matrix, rhs);
    const auto expected = cg_with("chebyshev:degree=6", usual, matrix);
    CHECK(expected.converged());
    for (const int of_a : {-900, -664, 0, 664, 900})
        for (const int of_b : {-664, 0, 664}) {
            CAPTURE(of_a);
            CAPTURE(of_b);
            if (std::abs(of_b - of_a) > 960) continue; // x is out of range
            auto scaled = matrix;
            auto b = rhs;
            for (double& v : scaled.values) v = std::ldexp(v, of_a);
            for (double& v : b) v = std::ldexp(v, of_b);
            problem<double> p(group, scaled, b);
            const auto result = cg_with("chebyshev:degree=6", p, scaled);
            INFO(testing::describe(result));
            CHECK(result.converged());
            CHECK(result.iterations == expected.iterations);
        }
}

KRYLITH_GROUP_TEST("chebyshev: an application is exact in powers of two, from tiny to huge r") {
    const auto matrix = specimen();
    const auto a = make_operator(group, matrix);
    const chebyshev<double> m(*a, csr_view<double>(matrix), {.degree = 5});
    execution run(group, {});
    const auto values = random_values<double>(matrix.rows, 8);
    auto r = testing::make_range_vector(a->layout(), values);
    auto z = a->make_range_vector();
    m.apply(run, r, z);
    const auto expected = values_of(z);
    for (const int exponent : {-480, -200, 1, 300, 480}) {
        CAPTURE(exponent);
        auto scaled = values;
        for (double& v : scaled) v = std::ldexp(v, exponent);
        r.upload(scaled);
        m.apply(run, r, z);
        auto found = values_of(z);
        for (double& v : found) v = std::ldexp(v, -exponent);
        CHECK(same_bits(found, expected));
    }
    r.zero();
    m.apply(run, r, z);
    CHECK(values_of(z) == std::vector<double>(expected.size(), 0.0));
}

KRYLITH_GROUP_TEST("chebyshev: one M serves many applications and several solves") {
    const auto matrix = specimen();
    problem<double> p(group, matrix, random_values<double>(matrix.rows, 9));
    const chebyshev<double> m(*p.a, csr_view<double>(matrix), {.degree = 3});
    execution run(group, {});
    auto z = p.a->make_range_vector();
    for (int k = 0; k < 100; ++k) m.apply(run, p.b, z); // an execution has 38 registers
    for (int k = 0; k < 20; ++k) {
        const auto result = cg(*p.a, p.b, p.x, {}, m);
        CHECK(result.converged());
        m.apply(run, p.b, z);
    }
}

KRYLITH_GROUP_TEST("chebyshev: new values give what a new preconditioner would") {
    const auto matrix = specimen();
    auto changed = matrix;
    for (std::int64_t row = 0; row < changed.rows; ++row)
        for (auto k = changed.row_offsets[static_cast<std::size_t>(row)];
             k < changed.row_offsets[static_cast<std::size_t>(row) + 1]; ++k)
            if (changed.column_indices[static_cast<std::size_t>(k)] == row)
                changed.values[static_cast<std::size_t>(k)] *=
                    1.0 + 0.01 * static_cast<double>(row);
    for (const operator_options& how :
         {operator_options{}, operator_options{.order = orders::rcm}}) {
        const auto a = make_operator(group, matrix, how);
        execution run(group, {});
        const auto r =
            testing::make_range_vector(a->layout(), random_values<double>(matrix.rows, 6));
        auto z = a->make_range_vector();
        chebyshev<double> m(*a, csr_view<double>(matrix), {.degree = 8});
        const chebyshev<double> fresh(*a, csr_view<double>(changed), {.degree = 8});
        const auto apply = [&](const chebyshev<double>& with) {
            with.apply(run, r, z);
            return values_of(z);
        };
        const auto before = apply(m);
        auto bad = matrix;
        bad.values.front() = -1;
        CHECK_THROWS_AS(m.update(csr_view<double>(bad)), input_error);
        CHECK_THROWS_AS(m.update(csr_view<double>(testing::laplace_1d(5))), usage_error);
        CHECK(same_bits(apply(m), before));
        m.update(csr_view<double>(changed));
        CHECK(same_bits(apply(m), apply(fresh)));
        CHECK(m.lambda() == fresh.lambda());
    }
}

TEST_CASE("chebyshev: what it can't do is refused with what is allowed") {
    const auto group = device_group::host(2);
    const auto matrix = specimen();
    const auto a = make_operator(group, matrix);
    const auto refuses = [&](const chebyshev_options& o, const char* words) {
        CHECK_THROWS_WITH_AS((chebyshev<double>(*a, csr_view<double>(matrix), o)),
                             doctest::Contains(words), usage_error);
    };
    refuses({.degree = 0}, "chebyshev_options::degree is 0, allowed is 1 to 100");
    refuses({.degree = 101}, "degree is 101");
    refuses({.ratio = 1}, "ratio is 1, allowed with degree 16 is 0 for the usual one, or 3.8");
    refuses({.ratio = std::nan("")}, "ratio is nan");
    refuses({.ratio = -4}, "ratio is -4");
    const auto single = testing::converted<float>(matrix);
    const auto b = make_operator(group, single);
    CHECK_THROWS_WITH_AS((chebyshev<float>(*b, csr_view<float>(single), {.precision = fp64})),
                         doctest::Contains("precision is fp64, but the solver works in fp32"),
                         usage_error);
    const auto other = testing::laplace_1d(4);
    CHECK_THROWS_WITH_AS((chebyshev<double>(*a, csr_view<double>(other))),
                         doctest::Contains("a matrix of 4 x 4 for an operator of 117 rows"),
                         usage_error);
    auto bad = matrix;
    bad.values.front() = 0;
    CHECK_THROWS_WITH_AS((chebyshev<double>(*a, csr_view<double>(bad))),
                         doctest::Contains("the diagonal entry of row 0 (counted from 0) is 0"),
                         input_error);
    const auto text = [&](const char* name, const char* words) {
        CHECK_THROWS_WITH_AS((void)make_preconditioner(name, *a, csr_view<double>(matrix)),
                             doctest::Contains(words), usage_error);
    };
    text("chebyshev:degree=0", "chebyshev: degree=0 is not allowed: allowed is 1 to 100");
    text("chebyshev:kind=third", "kind=third is not allowed: allowed is first|fourth");
    text("chebyshev:precision=fp16", "allowed is fp32|fp64");
    text("chebyshev:degre=3", "did you mean 'degree'");
    CHECK_THROWS_WITH_AS((void)make_preconditioner("chebyshev", *a),
                         doctest::Contains("needs the matrix"), usage_error);
}

TEST_CASE("chebyshev: its name is the text that makes it") {
    const auto matrix = specimen();
    const auto a = make_operator(device_group::host(1), matrix);
    for (const char* const text :
         {"chebyshev:degree=16:kind=first:ratio=256", "chebyshev:degree=3:kind=fourth",
          "chebyshev:degree=8:kind=first:ratio=30:precision=fp64"})
        CHECK(make_preconditioner(text, *a, csr_view<double>(matrix)).name() == text);
    CHECK(make_preconditioner("chebyshev", *a, csr_view<double>(matrix)).name() ==
          "chebyshev:degree=16:kind=first:ratio=256");
    const chebyshev<double> m(*a, csr_view<double>(matrix));
    CHECK(m.recordable());
    CHECK(m.bytes() > 4 * (matrix.nnz() + 4 * matrix.rows));
}

} // namespace krylith
