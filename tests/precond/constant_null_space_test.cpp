// Systems whose null space are the constant vectors.
#include <cmath>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/amg.hpp>
#include <krylith/precond/amg/dense_inverse.hpp>
#include <krylith/precond/constant_null_space.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;
using testing::random_values;
using testing::values_of;

namespace {

/// A gallery's matrix with minus the sum of the others in each diagonal entry: A 1 = 0.
template <class T>
csr_matrix<T> neumann(const char* name) {
    csr_matrix<T> a = make_gallery<T>(name);
    for (std::size_t row = 0; row < static_cast<std::size_t>(a.rows); ++row) {
        const auto begin = static_cast<std::size_t>(a.row_offsets[row]);
        const auto end = static_cast<std::size_t>(a.row_offsets[row + 1]);
        T others = 0;
        std::size_t own = begin;
        for (std::size_t k = begin; k < end; ++k)
            if (a.column_indices[k] == static_cast<std::int64_t>(row))
                own = k;
            else
                others += a.values[k];
        a.values[own] = -others;
    }
    return a;
}

double mean_of(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x;
    return v.empty() ? 0 : sum / static_cast<double>(v.size());
}

double norm_of(const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}

} // namespace

KRYLITH_GROUP_TEST("a constant null space: multigrid solves Neumann problems in a few iterations") {
    for (const char* const name :
         {"poisson2d:40", "poisson3d:14", "jump_diffusion:12:1e4:3:seed=2", "poisson1d:100"}) {
        CAPTURE(name);
        const auto matrix = neumann<double>(name);
        problem<double> p(group, matrix, random_values<double>(matrix.rows, 5)); // inconsistent
        const constant_null_space<double> constants(*p.a);
        const auto before = values_of(p.b);
        const double removed = constants.remove(p.b);
        const double root = std::sqrt(static_cast<double>(matrix.rows));
        CHECK(removed == doctest::Approx(std::fabs(mean_of(before)) * root / norm_of(before)));
        CHECK(std::fabs(mean_of(values_of(p.b))) <= 1e-15 * root);
        CHECK(constants.remove(p.b) <= 1e-14);
        const auto m = constants.project(amg<double>(*p.a, matrix));
        const auto result = cg(*p.a, p.b, p.x, {.rtol = 1e-10}, m);
        INFO(testing::describe(result));
        CHECK(result.converged());
        CHECK(result.iterations <= 30);
        const auto x = values_of(p.x);
        CHECK(std::fabs(mean_of(x)) * root <= 1e-12 * norm_of(x));
        CHECK(gmres(*p.a, p.b, p.x, {.rtol = 1e-10}, m).converged());

        const auto one = testing::one_device_like(group);
        problem<double> q(one, matrix, before);
        const constant_null_space<double> same(*q.a);
        (void)same.remove(q.b);
        const auto again =
            cg(*q.a, q.b, q.x, {.rtol = 1e-10}, same.project(amg<double>(*q.a, matrix)));
        CHECK(again.iterations == result.iterations);
    }
}

KRYLITH_GROUP_TEST("a constant null space: any preconditioner, with none and in float") {
    const auto matrix = neumann<float>("poisson2d:20");
    problem<float> p(group, matrix, random_values<float>(matrix.rows, 5));
    const constant_null_space<float> constants(*p.a);
    CHECK(constants.remove(p.b) > 1e-3);
    const auto by_diagonal = constants.project(jacobi<float>(*p.a));
    CHECK(cg(*p.a, p.b, p.x, {}, by_diagonal).converged());
    CHECK(by_diagonal.name() == "jacobi without constants");
    CHECK(cg(*p.a, p.b, p.x, {}, constants.project(identity())).converged());
    CHECK(gmres(*p.a, p.b, p.x, {}, constants.project(amg<float>(*p.a, matrix))).converged());
}

KRYLITH_GROUP_TEST("a constant null space: the program of its header") {
    const auto matrix = neumann<double>("poisson2d:30");
    const auto a = make_operator(group, matrix);
    auto b = a->make_range_vector();
    auto x = a->make_range_vector();
    b.upload(random_values<double>(matrix.rows, 3));
    const constant_null_space<double> constants(*a);
    const double inconsistent = constants.remove(b);
    const auto m = constants.project(amg<double>(*a, matrix));
    const solve_result result = cg(*a, b, x, {}, m);
    constants.remove(x);
    CHECK(inconsistent > 0);
    CHECK(inconsistent < 0.5);
    CHECK(result.converged());
    b.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1.0));
    CHECK(constants.remove(b) == doctest::Approx(1)); // all of it
}

KRYLITH_GROUP_TEST("a constant null space: vectors of any size, and not of numbers") {
    const auto a = make_operator(group, neumann<double>("poisson2d:5"));
    const constant_null_space<double> constants(*a);
    auto v = a->make_domain_vector();
    for (const double size : {1.0, 1e-20, 1e-160, 1e-170, 1e-300, 1e155, 1e300, 1e308}) {
        CAPTURE(size);
        v.upload(std::vector<double>(25, size));
        CHECK(constants.remove(v) == doctest::Approx(1).epsilon(1e-12));
        for (const double left : values_of(v)) CHECK(std::fabs(left) <= 1e-14 * size);
        std::vector<double> half(25, 0.0); // a mean of 1 and deviations from it as large
        for (std::size_t i = 0; i < 24; ++i) half[i] = i % 2 == 0 ? size : 0;
        v.upload(half);
        CHECK(constants.remove(v) == doctest::Approx(std::sqrt(12.0 / 25)));
        CHECK(values_of(v)[0] / size == doctest::Approx(13.0 / 25));
        CHECK(values_of(v)[24] / size == doctest::Approx(-12.0 / 25));
    }
    v.upload(std::vector<double>(25, 0.0));
    CHECK(constants.remove(v) == 0);
    for (const double bad : {std::nan(""), HUGE_VAL}) {
        std::vector<double> values(25, 1.0);
        values[7] = bad;
        v.upload(values);
        CHECK(std::isnan(constants.remove(v)));
        CHECK(values_of(v)[6] == 1);
    }
    const auto single = make_operator(group, neumann<float>("poisson2d:5"));
    const constant_null_space<float> of_floats(*single);
    auto w = single->make_range_vector();
    for (const float size : {1e-30F, 1e-42F, 1e30F, 3e38F}) {
        w.upload(std::vector<float>(25, size));
        CHECK(of_floats.remove(w) == doctest::Approx(1).epsilon(1e-6));
    }
}

KRYLITH_GROUP_TEST("a constant null space: small and refused") {
    const auto zero = make_operator(group, csr_matrix<double>{0, 0, {0}, {}, {}});
    auto none = zero->make_range_vector();
    CHECK(constant_null_space<double>(*zero).remove(none) == 0);
    const csr_matrix<double> wide{1, 2, {0, 1}, {0}, {1.0}};
    const auto a = make_operator(group, wide);
    CHECK_THROWS_AS((void)constant_null_space<double>(*a), usage_error);
}

TEST_CASE("a constant null space: the coarsest level's inverse leaves the null vector out") {
    const auto a = neumann<float>("poisson2d:8");
    const std::vector<float> v(64, 3.0f);
    const auto g = detail::dense_inverse(csr_view<float>(a), std::span<const float>(v));
    const auto regular = make_gallery<float>("poisson2d:8");
    const auto usual = detail::dense_inverse(csr_view<float>(regular));
    CHECK(detail::dense_inverse(csr_view<float>(regular), std::span<const float>(v)).values ==
          usual.values); // regular matrices keep their bits
    for (std::size_t i = 0; i < 64; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < 64; ++j) sum += static_cast<double>(g.values[i * 64 + j]);
        CHECK(std::fabs(sum) <= 1e-5);
        for (std::size_t j = 0; j < 64; ++j) { // (A G)_ij = delta_ij - 1/64
            double entry = 0;
            for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const auto at = static_cast<std::size_t>(k);
                entry += static_cast<double>(a.values[at]) *
                         static_cast<double>(
                             g.values[static_cast<std::size_t>(a.column_indices[at]) * 64 + j]);
            }
            CHECK(entry == doctest::Approx((i == j ? 1.0 : 0.0) - 1.0 / 64).epsilon(1e-4));
        }
    }
}

} // namespace krylith
