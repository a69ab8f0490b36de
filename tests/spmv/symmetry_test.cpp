// |x'A y - y'A x| of symmetric matrices, as HPCG tests it, for every operator, format and
// preconditioner on every group: rows, columns, values or ghosts out of step break it.
#include <cmath>
#include <string>
#include <vector>

#include <krylith/matrix/gallery.hpp>
#include <krylith/precond/jacobi.hpp>
#include <krylith/solvers/iteration/preconditioned_operator.hpp>
#include <krylith/spmv/matrix_operator.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/table_cases.hpp>
#include <krylith/tests/support/tables.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::name_of;
using testing::random_values;

namespace {

struct symmetric_matrix {
    const char* name;
    csr_matrix<double> matrix;
};

std::vector<symmetric_matrix> symmetric_matrices() {
    // The matrix is A + A' of a random A: long and short rows, any place of x.
    const auto half = testing::random_matrix(400, 5, 1, 41);
    testing::triplets both;
    for (std::int64_t i = 0; i < half.rows; ++i)
        for (auto k = half.row_offsets[static_cast<std::size_t>(i)];
             k < half.row_offsets[static_cast<std::size_t>(i) + 1]; ++k) {
            const std::int64_t j = half.column_indices[static_cast<std::size_t>(k)];
            const double v = half.values[static_cast<std::size_t>(k)];
            both.emplace_back(i, j, v);
            both.emplace_back(j, i, v);
        }
    return {{"tridiagonal", testing::laplace_1d(501)},
            {"poisson2d", poisson2d<double>(31, 17, random_scaling{3})},
            {"poisson3d", poisson3d<double>(11, 9, 10)},
            {"random", testing::from_triplets(half.rows, both)}};
}

/// Returns u'v with the bound that `allows` needs.
testing::bounded_value quadratic_form(const csr_matrix<double>& a, const std::vector<double>& x,
                                      const std::vector<double>& y) {
    testing::bounded_value sum;
    for (std::size_t row = 0; row < x.size(); ++row)
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const auto place = static_cast<std::size_t>(k);
            sum.add(static_cast<long double>(x[row]) * a.values[place] *
                    y[static_cast<std::size_t>(a.column_indices[place])]);
        }
    return sum;
}

/// Whether |x'K y - y'K x| is within 2 gamma_m |x|'|A||y|, where m is the number of roundings of
/// the longest row, of the products with M, and of the sum over rows, which counts as pairwise.
template <class T>
bool symmetric(double xky, double ykx, double magnitude, std::int64_t longest_row) {
    const double u = std::numeric_limits<T>::epsilon() / 2.0;
    const double roundings = static_cast<double>(longest_row) + 8;
    const double sums = 64 * std::numeric_limits<double>::epsilon();
    return std::fabs(xky - ykx) <= 2 * (roundings * u + sums) * magnitude;
}

template <class T>
void check_symmetry(const device_group& group, operator_kind kind) {
    for (const auto& tested : symmetric_matrices()) {
        const auto matrix = testing::converted<T>(tested.matrix);
        const auto n = matrix.rows;
        std::int64_t longest = 0;
        for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row)
            longest = std::max(longest, matrix.row_offsets[row + 1] - matrix.row_offsets[row]);
        for (const auto format : testing::formats_of(group.kind())) {
            CAPTURE(tested.name);
            CAPTURE(name_of(kind));
            CAPTURE(name_of(format));
            const auto a = make_operator(group, matrix, {kind, format});
            const jacobi<T> m(*a, matrix);
            const auto x0 = random_values<T>(n, 42);
            const auto y0 = random_values<T>(n, 43);
            const auto layout = a->layout();
            const auto x = testing::make_range_vector(layout, x0);
            const auto y = testing::make_range_vector(layout, y0);
            auto domain = a->make_domain_vector();
            auto ay = a->make_range_vector();
            execution run(group, {});
            scalar xay(run), yax(run), xmy(run), ymx(run);

            fused(run, domain = y);
            multiply(run, *a, domain, ay);
            fused(run, xay = dot(x, ay));
            fused(run, domain = x);
            multiply(run, *a, domain, ay);
            fused(run, yax = dot(y, ay));
            const std::vector<double> xd(x0.begin(), x0.end());
            const std::vector<double> yd(y0.begin(), y0.end());
            auto exact = tested.matrix;
            for (std::size_t k = 0; k < exact.values.size(); ++k)
                exact.values[k] = static_cast<double>(matrix.values[k]);
            const auto form = quadratic_form(exact, xd, yd);
            const auto magnitude = static_cast<double>(form.magnitude);
            CHECK(symmetric<T>(run.get(xay.number()), run.get(yax.number()), magnitude, longest));
            // The form must be that of this matrix, not of another symmetric one.
            CHECK(symmetric<T>(run.get(xay.number()), static_cast<double>(form.value), magnitude,
                               longest));

            precondition<T>(run, m, y, ay, xmy = dot(x, ay));
            precondition<T>(run, m, x, ay, ymx = dot(y, ay));
            double size = 0;
            const auto d = diagonal(exact);
            for (std::size_t i = 0; i < d.size(); ++i) size += std::fabs(xd[i] * yd[i] / d[i]);
            CHECK(symmetric<T>(run.get(xmy.number()), run.get(ymx.number()), size, 1));

            bool positive = true;
            for (const double v : d) positive = positive && v > 0;
            if (!positive) continue; // M has no real square root
            // K is M^-1/2 A M^-1/2, as solvers apply it.
            const preconditioned_operator k(*a, m, side::split);
            auto hat = k.make_hat();
            const auto apply = [&](const vector<T>& v, const vector<T>& w, scalar& form_of) {
                k.multiply(run, k.right(run, v, hat), ay, form_of = dot(ay, w));
            };
            apply(y, x, xay);
            apply(x, y, yax);
            auto scaled = exact;
            for (std::size_t row = 0; row < d.size(); ++row)
                for (auto e = exact.row_offsets[row]; e < exact.row_offsets[row + 1]; ++e) {
                    const auto place = static_cast<std::size_t>(e);
                    const auto column = static_cast<std::size_t>(exact.column_indices[place]);
                    scaled.values[place] /= std::sqrt(d[row] * d[column]);
                }
            const auto size_of_split =
                static_cast<double>(quadratic_form(scaled, xd, yd).magnitude);
            CHECK(symmetric<T>(run.get(xay.number()), run.get(yax.number()), size_of_split,
                               longest + 4));
        }
    }
}

} // namespace

namespace {

struct symmetry_case {
    static constexpr std::size_t count = operators::all.size();

    static std::string name(std::size_t row) {
        return std::string("symmetry: x'A y = y'A x, operator ") +
               to_string(operators::all.at(row));
    }
    static void run(const device_group& group, std::size_t row) {
        check_symmetry<double>(group, operators::all.at(row));
        check_symmetry<float>(group, operators::all.at(row));
    }
};

[[maybe_unused]] const bool symmetry_registered =
    testing::register_rows<symmetry_case>(__FILE__, __LINE__);

} // namespace
KRYLITH_GROUP_TEST("symmetry: x'A y = y'A x, operator pcsr") {
    check_symmetry<double>(group, operators::pcsr);
    check_symmetry<float>(group, operators::pcsr);
}
KRYLITH_GROUP_TEST("symmetry: x'A y = y'A x, operator pcsc") {
    check_symmetry<double>(group, operators::pcsc);
    check_symmetry<float>(group, operators::pcsc);
}

} // namespace krylith
