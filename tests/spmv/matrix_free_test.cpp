// A user's product function as an operator: -1, 2, -1 without a matrix, replicated and with ghosts.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/cg.hpp>
#include <krylith/spmv/matrix_free.hpp>
#include <krylith/vector/fused.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/matrices.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/vectors.hpp>

namespace krylith {

using testing::laplace_1d;
using testing::name_of;
using testing::random_values;
using testing::same_bits;
using testing::values_of;

namespace {

/// Computes rows of the 1D Laplacian from host memory; `x(i)` is the entry of global row i.
template <class X>
void laplace_rows(row_range rows, std::int64_t n, const X& x, double* y) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
        y[i - rows.begin] = 2 * x(i) - (i > 0 ? x(i - 1) : 0.0) - (i + 1 < n ? x(i + 1) : 0.0);
}

product_function<double> replicated_laplace(std::int64_t n) {
    return [n](const product_call<double>& call) {
        laplace_rows(
            call.rows, n, [&](std::int64_t i) { return call.x[i]; }, call.y);
    };
}

product_function<double> halo_laplace(std::int64_t n, const halo_plan& plan) {
    return [n, plan](const product_call<double>& call) {
        const local_indices& columns = plan.columns.local(call.rank);
        const auto x = [&](std::int64_t i) {
            if (columns.local(i) < 0) throw std::logic_error("not a ghost");
            return call.x[columns.local(i) - columns.first_owned()];
        };
        laplace_rows(call.rows, n, x, call.y);
    };
}

halo_plan laplace_plan(const device_group& group, std::int64_t n) {
    const auto matrix = laplace_1d(n);
    return make_halo_plan(matrix.row_offsets, matrix.column_indices, equal_rows(n, group.size()));
}

/// Returns the kind of a function of host memory: it runs on the worker of a host device, and
/// between copies for CUDA.
product_kind on_host(const device_group& group) {
    return group.kind() == backend::cuda ? product_kind::on_host : product_kind::on_device;
}

std::vector<std::unique_ptr<matrix_operator<double>>> both(const device_group& group,
                                                           std::int64_t n, product_kind kind) {
    const auto plan = laplace_plan(group, n);
    std::vector<std::unique_ptr<matrix_operator<double>>> all;
    all.push_back(
        make_matrix_free<double>(group, equal_rows(n, group.size()), replicated_laplace(n), kind));
    all.push_back(make_matrix_free<double>(group, plan, halo_laplace(n, plan), kind));
    return all;
}

} // namespace

KRYLITH_GROUP_TEST("matrix free: y = alpha A x + beta y and dots as with the matrix") {
    for (const std::int64_t n : {1, 5, 700})
        for (auto& a : both(group, n, on_host(group))) {
            CAPTURE(n);
            CAPTURE(name_of(a->kind()));
            const auto matrix = laplace_1d(n);
            const auto x0 = random_values<double>(n, 61);
            const auto y0 = random_values<double>(n, 62);
            const auto at = [&](std::int64_t i) { return x0[static_cast<std::size_t>(i)]; };
            std::vector<double> ax(x0.size());
            laplace_rows({0, n}, n, at, ax.data());
            execution run(group, {.mode = execution_mode::eager});
            auto source = testing::make_range_vector(a->layout(), x0);
            auto y = testing::make_range_vector(a->layout(), y0);
            auto x = a->make_domain_vector();
            scalar xy(run), yy(run);
            fused(run, x = source);
            const reduction_into<double> dots[] = {xy = dot(x, y), yy = dot(y, y)};
            a->apply(run, 2.0, x, 0.5, y, dots);
            run.flush();
            CHECK(testing::copies_agree(y));
            auto result = values_of(y);
            double worst = 0;
            double expected_xy = 0;
            double expected_yy = 0;
            for (std::size_t i = 0; i < ax.size(); ++i) {
                worst = std::max(worst, std::fabs(result[i] - (2 * ax[i] + 0.5 * y0[i])));
                expected_xy += x0[i] * result[i];
                expected_yy += result[i] * result[i];
            }
            CHECK(worst <= 1e-14);
            CHECK(run.get(xy.number()) == doctest::Approx(expected_xy).epsilon(1e-13));
            CHECK(run.get(yy.number()) == doctest::Approx(expected_yy).epsilon(1e-13));

            testing::fill(y, std::nan("")); // beta = 0 must not read y
            a->apply(run, 1.0, x, 0.0, y);
            CHECK(values_of(y) == ax);
            a->apply(run, 1.0, x, 0.0, y, std::span(dots, 1));
            run.flush();
            CHECK(values_of(y) == ax);
        }
}

KRYLITH_GROUP_TEST("matrix free: CG takes as many iterations as with the matrix") {
    constexpr std::int64_t n = 60;
    const auto b0 = random_values<double>(n, 63);
    const auto matrix = make_operator(group, laplace_1d(n));
    auto b = testing::make_range_vector(matrix->layout(), b0);
    auto x = matrix->make_range_vector();
    const auto expected = cg(*matrix, b, x);
    REQUIRE(expected.converged());
    const bool records = execution(group, {}).mode() == execution_mode::recorded;
    for (const product_kind kind :
         {product_kind::on_device, product_kind::on_device_eagerly, product_kind::on_host}) {
        if (group.kind() == backend::cuda && kind != product_kind::on_host) continue;
        for (auto& a : both(group, n, kind)) {
            CAPTURE(static_cast<int>(kind));
            CAPTURE(name_of(a->kind()));
            auto rhs = testing::make_range_vector(a->layout(), b0);
            auto solution = a->make_range_vector();
            const auto result = cg(*a, rhs, solution);
            CHECK(result.converged());
            CHECK(result.iterations == expected.iterations);
            CHECK(result.recorded == (records && a->recordable()));
        }
    }
}

TEST_CASE("matrix free: an exception of the function ends the solve, and the next one runs") {
    for (const int devices : {1, 3}) {
        const auto group = device_group::host(devices);
        std::atomic<int> calls_left = 7 * devices;
        const auto inner = replicated_laplace(40);
        const auto a = make_matrix_free<double>(
            group, equal_rows(40, devices), [&](const product_call<double>& call) {
                if (--calls_left == 0) throw std::runtime_error("the user's mistake");
                inner(call);
            });
        auto b = testing::make_range_vector(a->layout(), random_values<double>(40, 64));
        auto x = a->make_range_vector();
        // Where one device fails the others wait for it: a short time-out ends that.
        solver_options options{.timeout_seconds = 0.2};
        CHECK_THROWS_AS((void)cg(*a, b, x, options), error);
        try {
            group.synchronize();
        } catch (const error&) { // NOLINT(bugprone-empty-catch): a second device's report
        }
        calls_left = 1'000'000'000;
        // A failed solve leaves everything usable, also the operator, whose devices had sent and
        // received different numbers of results when it ended.
        bool converged = false;
        CHECK_NOTHROW(converged = cg(*a, b, x, {.timeout_seconds = 2}).converged());
        CHECK(converged);
    }
}

KRYLITH_GROUP_TEST("matrix free: what makes no sense is refused") {
    const auto rows = equal_rows(10, group.size());
    CHECK_THROWS_AS((void)make_matrix_free<double>(group, rows, nullptr), usage_error);
    CHECK_THROWS_AS((void)make_matrix_free<double>(group, equal_rows(10, group.size() + 1),
                                                   replicated_laplace(10)),
                    usage_error);
    row_partition broken{{0, 7, 3, 10}};
    CHECK_THROWS_AS((void)make_matrix_free<double>(group, broken, replicated_laplace(10)),
                    usage_error);
    const auto a = make_matrix_free<double>(group, rows, replicated_laplace(10), on_host(group));
    CHECK_THROWS_AS(a->update(std::vector<double>(10)), usage_error);
    CHECK(a->format_name() == "own");
    if (!a->recordable()) {
        auto b = a->make_range_vector();
        auto x = a->make_range_vector();
        solver_options options{.mode = execution_mode::recorded};
        CHECK_THROWS_AS((void)cg(*a, b, x, options), usage_error);
    }
}

} // namespace krylith
