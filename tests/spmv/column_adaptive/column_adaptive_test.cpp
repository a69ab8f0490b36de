// Operator adaptive: products of vectors with few entries, solves whose vectors begin sparse,
// reports and refusals.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/solvers/bicgstab.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/solvers/gmres.hpp>
#include <krylith/spmv/column_adaptive/column_worth.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/forced_kernel.hpp>
#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/oracle.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using spmspv::kernel;
using testing::forced_kernel;
using testing::random_values;
using testing::same_bits;
using testing::values_of;

namespace {

template <class T>
std::vector<T> with_entries(std::int64_t n, std::int64_t every, std::int64_t first) {
    auto x = random_values<T>(n, 71);
    for (std::int64_t i = 0; i < n; ++i)
        if (i % every != first % every) x[static_cast<std::size_t>(i)] = T(0);
    return x;
}

std::int64_t products_by(const std::vector<kernel_use>& uses, std::string_view part) {
    std::int64_t sum = 0;
    for (const kernel_use& use : uses)
        if (use.kernel.find(part) != std::string::npos) sum += use.products;
    return sum;
}

/// Returns the first error; empty if y and the dots are right, and the same bits a second time.
template <class T>
std::string multiply_sparse_and_compare(const device_group& group, const matrix_operator<T>& a,
                                        const csr_matrix<T>& matrix, const std::vector<T>& x0,
                                        T alpha, T beta) {
    execution run(group, {});
    const auto y0 =
        beta == T(0) ? std::vector<T>(x0.size(), T(NAN)) : random_values<T>(matrix.rows, 72);
    auto source = testing::make_range_vector(a.layout(), x0);
    auto y = testing::make_range_vector(a.layout(), y0);
    auto x = a.make_domain_vector();
    scalar xy(run), yy(run);
    fused(run, x = source);
    const reduction_into<T> dots[] = {xy = dot(x, y), yy = dot(y, y)};
    a.apply(run, alpha, x, beta, y, dots);
    run.flush();
    const auto result = values_of(y);
    const auto expected = testing::product(matrix, alpha, x0, beta, y0);
    for (std::size_t i = 0; i < result.size(); ++i)
        if (!expected[i].template allows<T>(result[i]))
            return "row " + std::to_string(i) + ": " + std::to_string(result[i]) + " for " +
                   std::to_string(static_cast<double>(expected[i].value));
    if (!testing::inner_product(x0, result).template allows<double>(run.get(xy.number())))
        return "dot(x, y)";
    if (!testing::inner_product(result, result).template allows<double>(run.get(yy.number())))
        return "dot(y, y)";
    y.upload(y0);
    a.apply(run, alpha, x, beta, y);
    run.flush();
    return same_bits(values_of(y), result) ? "" : "not the same bits again";
}

template <class T>
void multiply_sparse(const device_group& group, kernel forced) {
    const forced_kernel model(group[0], forced);
    const mocked_column_worth worth;
    for (const auto& entry : testing::battery()) {
        INFO(entry.name, ", for: ", entry.surfaces);
        const auto matrix = testing::converted<T>(entry.matrix);
        const auto a = make_operator(group, matrix, {.kind = operators::adaptive});
        CHECK(a->kind() == operators::adaptive);
        CHECK_FALSE(a->recordable());
        // Products with many entries follow those with few and the reverse, so that leftovers of a
        // product would show.
        for (const std::int64_t every : {9, 1, 40, 2000}) {
            CAPTURE(every);
            const auto x0 = with_entries<T>(matrix.rows, every, every / 2);
            CHECK(multiply_sparse_and_compare<T>(group, *a, matrix, x0, T(1), T(0)) == "");
            CHECK(multiply_sparse_and_compare<T>(group, *a, matrix, x0, T(-2), T(0.5)) == "");
        }
        const std::vector<T> nothing(static_cast<std::size_t>(matrix.rows), T(0));
        CHECK(multiply_sparse_and_compare<T>(group, *a, matrix, nothing, T(1), T(0)) == "");
        if (matrix.rows >= 100 * group.size())
            CHECK(products_by(a->kernel_uses(), to_string(forced)) >= 4 * group.size());
    }
}

std::vector<double> point_source(std::int64_t n) {
    std::vector<double> b(static_cast<std::size_t>(n), 0.0);
    b[static_cast<std::size_t>(n / 2)] = 1;
    return b;
}

} // namespace

KRYLITH_GROUP_TEST("adaptive: products of vectors with few entries, direct columns, fp64") {
    multiply_sparse<double>(group, kernel::column_sort);
}
KRYLITH_GROUP_TEST("adaptive: products of vectors with few entries, balanced columns, fp32") {
    multiply_sparse<float>(group, kernel::column_balanced_sort);
}

KRYLITH_GROUP_TEST("adaptive: atomic kernels give way to sorted ones") {
    const forced_kernel model(group[0], kernel::column_balanced_atomic);
    const mocked_column_worth worth;
    // Where a format reads one value for many entries, whole products cost less than columns.
    const auto matrix = poisson2d<double>(20, 20, random_scaling{2});
    const auto a = make_operator(group, matrix, {.kind = operators::adaptive});
    const auto x0 = with_entries<double>(matrix.rows, 50, 7);
    CHECK(multiply_sparse_and_compare<double>(group, *a, matrix, x0, 1, 0) == "");
    CHECK(products_by(a->kernel_uses(), "atomic") == 0);
    CHECK(products_by(a->kernel_uses(), "column-balanced-sort") == 2 * group.size());
}

KRYLITH_GROUP_TEST(
    "adaptive: a point source is solved as with halo; vectors begin sparse and fill") {
    const forced_kernel model(group[0], kernel::column_sort);
    const mocked_column_worth worth;
    const auto matrix = poisson2d<double>(40, 40);
    const auto b0 = point_source(matrix.rows);
    const auto a = make_operator(group, matrix, {.kind = operators::adaptive});
    const auto halo = make_operator(group, matrix, {.kind = operators::halo});
    const auto solve = [&](const auto& method, const matrix_operator<double>& with) {
        const auto b = testing::make_range_vector(with.layout(), b0);
        auto x = with.make_range_vector();
        const solve_result result = method(with, b, x);
        CHECK(result.converged());
        return std::pair(values_of(x), result.iterations);
    };
    const auto compare = [&](const auto& method) {
        const auto [x, iterations] = solve(method, *a);
        const auto [again, as_many] = solve(method, *a);
        const auto [usual, usually] = solve(method, *halo);
        CHECK(same_bits(x, again));
        CHECK(iterations == as_many);
        CHECK(std::abs(iterations - usually) <= 2 + usually / 10);
        double difference = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            difference = std::max(difference, std::fabs(x[i] - usual[i]));
        CHECK(difference <= 1e-5);
    };
    compare([](const auto& op, const auto& b, auto& x) { return cg(op, b, x); });
    compare([](const auto& op, const auto& b, auto& x) { return bicgstab(op, b, x); });
    compare([](const auto& op, const auto& b, auto& x) { return gmres(op, b, x); });
    const auto uses = a->kernel_uses();
    CHECK(products_by(uses, "column-sort") > 0);
    CHECK(products_by(uses, a->format_name()) > products_by(uses, "column-sort"));
}

KRYLITH_GROUP_TEST("adaptive: new values reach both forms of the matrix") {
    const forced_kernel model(group[0], kernel::column_sort);
    const mocked_column_worth worth;
    const auto first = testing::random_matrix(900, 6, 2, 41);
    auto second = first;
    for (std::size_t k = 0; k < second.values.size(); ++k)
        second.values[k] = 1.0 / static_cast<double>(k + 1);
    const auto a = make_operator(group, first, {.kind = operators::adaptive});
    for (const auto* matrix :
         {&std::as_const(first), &std::as_const(second), &std::as_const(first)}) {
        a->update(matrix->values);
        for (const std::int64_t every : {60, 1}) {
            const auto x0 = with_entries<double>(matrix->rows, every, 3);
            CHECK(multiply_sparse_and_compare<double>(group, *a, *matrix, x0, 1, 0) == "");
        }
    }
    std::vector<double> diagonal(900);
    auto d = a->make_range_vector();
    a->diagonal(d);
    group.synchronize();
    CHECK(values_of(d) == krylith::diagonal(first));
}

KRYLITH_GROUP_TEST("adaptive: where columns can't pay it is halo") {
    const auto matrix = poisson2d<double>(20, 20);
    const auto a = make_operator(group, matrix, {.kind = operators::adaptive});
    const bool host = group.kind() == backend::host; // columns may pay there
    CHECK(a->recordable() != host);
    const auto x0 = with_entries<double>(matrix.rows, 50, 7);
    CHECK(multiply_sparse_and_compare<double>(group, *a, matrix, x0, 1, 0) == "");
    CHECK(a->kernel_uses().empty() != host);
}

TEST_CASE("adaptive: columns pay where they are few and the matrix is large") {
    const row_product small{10'000, 12 * 50'000, 12};
    CHECK(most_column_nonzeros(backend::host, small) == 30'000 / 16);
    CHECK(most_column_nonzeros(backend::cuda, small) == -1);
    const row_product large{3'000'000, 12 * std::int64_t{300'000'000}, 12};
    CHECK(most_column_nonzeros(backend::cuda, large) == 230'000'000 / 40);
    CHECK(most_column_nonzeros(backend::host, {100, 0, 12}) == -1);
    const mocked_column_worth worth;
    CHECK(most_column_nonzeros(backend::cuda, small) == 50'000 / 4);
}

TEST_CASE("adaptive: a sparse vector is multiplied by the model that the library has") {
    const auto group = device_group::host(2);
    const auto matrix = poisson3d<double>(16, 16, 16);
    const auto a = make_operator(group, matrix, {.kind = operators::adaptive});
    auto x0 = point_source(matrix.rows);
    // Products allocate nothing: their memory is there from the start.
    const auto live = [&] { return group[0].ledger().live() + group[1].ledger().live(); };
    const std::int64_t before = live();
    CHECK(multiply_sparse_and_compare<double>(group, *a, matrix, x0, 1, 0) == "");
    CHECK(products_by(a->kernel_uses(), "column") > 0);
    CHECK(live() == before);
    CHECK(parse_operator_kind("adaptive") == operators::adaptive);
    const auto halo = make_operator(group, matrix, {.kind = operators::halo});
    CHECK(halo->kernel_uses().empty());
}

} // namespace krylith
