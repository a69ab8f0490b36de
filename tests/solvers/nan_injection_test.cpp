// A NaN that one device computes at one iteration: all devices stop there, report it, and run the
// next solve. The NaN comes from a user's product, a user's preconditioner, or an entry of A.
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/host/host_device.hpp>
#include <krylith/matrix/gallery.hpp>
#include <krylith/spmv/matrix_free.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/loop.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>
#include <krylith/tests/support/tables.hpp>

namespace krylith {

using testing::all_methods;
using testing::describe;
using testing::method;
using testing::modes_of;
using testing::name_of;
using testing::problem;
using testing::random_values;
using testing::same_bits;

namespace {

constexpr std::int64_t n = 60;

/// A product function that spoils one entry of product number `bad` of one device, counted by that
/// device from 0.
struct faulty_laplace {
    std::shared_ptr<std::vector<int>> calls; // [rank]
    int bad_rank;
    int bad_call;
    double value;

    void operator()(const product_call<double>& call) const {
        for (auto i = call.rows.begin; i < call.rows.end; ++i) {
            const double left = i > 0 ? call.x[i - 1] : 0;
            const double right = i + 1 < n ? call.x[i + 1] : 0;
            call.y[i - call.rows.begin] = 2.1 * call.x[i] - left - right;
        }
        const int number = (*calls)[static_cast<std::size_t>(call.rank)]++;
        if (call.rank == bad_rank && number == bad_call) call.y[0] = value;
    }
};

product_kind on_host(const device_group& group) {
    return group.kind() == backend::cuda ? product_kind::on_host : product_kind::on_device;
}

/// Returns the number of products of a solve until iteration `k` (from 1) is over: one for b, then
/// one or two an iteration; GMRES tests its estimate after each.
int product_in_iteration(method which, int k) {
    return which.row->products == 2 ? 2 * k - 1 : k;
}

} // namespace

KRYLITH_GROUP_TEST("nan: one device's product at iteration k stops all devices there") {
    const auto b0 = random_values<double>(n, 171);
    for (const auto which : all_methods) {
        std::vector<double> solution;
        for (const int k : {1, 2, 5, 11})
            for (const int rank : {0, group.size() - 1})
                for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
                    CAPTURE(name_of(which));
                    CAPTURE(k);
                    CAPTURE(rank);
                    CAPTURE(value);
                    const auto calls =
                        std::make_shared<std::vector<int>>(static_cast<std::size_t>(group.size()));
                    const auto a = make_matrix_free<double>(
                        group, equal_rows(n, group.size()),
                        faulty_laplace{calls, rank, product_in_iteration(which, k), value},
                        on_host(group));
                    const auto b = testing::make_range_vector(a->layout(), b0);
                    auto x = a->make_range_vector();
                    const solver_options options{.history = true, .timeout_seconds = 5};
                    const auto result = testing::solve(which, *a, b, x, options);
                    INFO(describe(result));
                    CHECK(result.reason == reason::not_a_number);
                    CHECK_FALSE(result.diagnosis.empty());
                    // CG and BiCGStab see it in a scalar before the iteration counts.
                    CHECK(result.iterations <= k);
                    CHECK(result.iterations >= k - 1);
                    for (std::size_t i = 0; i + 1 < result.history.size(); ++i)
                        CHECK(std::isfinite(result.history[i])); // no earlier NaN
                    // Every device has computed equally often: none went on.
                    for (const int count : *calls) CHECK(count == calls->front());
                    // Without the fault the same operator and vectors solve as if nothing had
                    // happened.
                    const auto next = testing::solve(which, *a, b, x, options);
                    INFO(describe(next));
                    CHECK(next.converged());
                    const auto values = testing::values_of(x);
                    if (solution.empty()) solution = values;
                    CHECK(same_bits(values, solution));
                }
    }
}

namespace {

/// Jacobi in an operation of its own, which spoils one entry of the last device at call `bad`.
class faulty_jacobi {
public:
    faulty_jacobi(const matrix_operator<double>& a, const csr_matrix<double>& matrix, int bad)
        : good_(a, matrix),
          weights_(a.make_range_vector()),
          spoilt_(a.make_range_vector()),
          bad_(bad) {
        std::vector<double> w(static_cast<std::size_t>(matrix.rows), 1.0);
        weights_.upload(w);
        w.back() = std::nan("");
        spoilt_.upload(w);
    }

    void apply(execution& run, const vector<double>& r, vector<double>& z,
               std::span<const reduction_into<double>> dots) const {
        const auto& w = calls_++ == bad_ ? spoilt_ : weights_;
        fused(run, z = *good_.pointwise(r));
        fused(run, z = pointwise(w, z), dots);
    }
    [[nodiscard]] bool recordable() const { return true; }
    [[nodiscard]] std::int64_t bytes() const { return good_.bytes(); }
    [[nodiscard]] std::string name() const { return "spoilt Jacobi"; }

private:
    jacobi<double> good_;
    vector<double> weights_;
    vector<double> spoilt_;
    int bad_;
    mutable int calls_ = 0;
};

} // namespace

// Solves are eager, so that each iteration applies M anew, in order.
KRYLITH_GROUP_TEST("nan: a preconditioner's at application k") {
    const auto matrix = poisson2d<double>(8, 9);
    const auto b = random_values<double>(matrix.rows, 172);
    for (const auto which : all_methods)
        for (const int k : {0, 1, 4}) {
            CAPTURE(name_of(which));
            CAPTURE(k);
            problem<double> p(group, matrix, b);
            const faulty_jacobi m(*p.a, matrix, k);
            const solver_options options{
                .mode = execution_mode::eager, .unroll = 1, .timeout_seconds = 5};
            const auto result = testing::solve(which, *p.a, p.b, p.x, options, m);
            INFO(describe(result));
            CHECK(result.reason == reason::not_a_number);
            CHECK(result.iterations <= k + 1);
            CHECK(testing::solve(which, *p.a, p.b, p.x, options, m).converged());
        }
}

// One entry of the last device's values becomes NaN or infinite between two solves.
KRYLITH_GROUP_TEST("nan: an entry of A by update(), and good values again") {
    const auto matrix = poisson2d<double>(8, 9);
    const auto b = random_values<double>(matrix.rows, 173);
    for (const auto kind : testing::different_operators())
        for (const auto which : all_methods)
            for (const auto mode : modes_of(group)) {
                CAPTURE(name_of(kind));
                CAPTURE(name_of(which));
                problem<double> p(group, matrix, b, {.kind = kind});
                CHECK(p.solve(which, {.mode = mode}).converged());
                const auto x = p.solution();
                for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
                    auto values = matrix.values;
                    values.back() = value;
                    p.a->update(values);
                    const auto result = p.solve(which, {.mode = mode});
                    INFO(describe(result));
                    CHECK(result.reason == reason::not_a_number);
                    CHECK(result.iterations == 0);
                }
                p.a->update(matrix.values);
                CHECK(p.solve(which, {.mode = mode}).converged());
                CHECK(same_bits(p.solution(), x));
            }
}

// A function throws on one device: at the first product, in the middle, or after the loop.
TEST_CASE("nan: a product function that throws on one device, in every solver") {
    for (const int devices : {1, 3})
        for (const auto which : all_methods)
            for (const int call : {0, 6}) {
                CAPTURE(devices);
                CAPTURE(name_of(which));
                CAPTURE(call);
                const auto group = device_group::host(devices, {.host_threads = devices});
                const auto calls = std::make_shared<std::vector<int>>(devices);
                const faulty_laplace inner{calls, -1, 0, 0};
                const auto a = make_matrix_free<double>(
                    group, equal_rows(n, devices), [&](const product_call<double>& c) {
                        inner(c);
                        if (c.rank == devices - 1 && (*calls)[devices - 1] - 1 == call)
                            throw std::domain_error("no such product");
                    });
                const auto b =
                    testing::make_range_vector(a->layout(), random_values<double>(n, 174));
                auto x = a->make_range_vector();
                CHECK_THROWS_AS((void)testing::solve(which, *a, b, x, {.timeout_seconds = 0.1}),
                                error);
                for (int rank = 0; rank < devices; ++rank) {
                    try { // other devices may report the same failure
                        group[rank].synchronize();
                    } catch (const device_error&) { // NOLINT(bugprone-empty-catch)
                    }
                }
                const auto next = testing::solve(which, *a, b, x, {.timeout_seconds = 5});
                INFO(describe(next));
                CHECK(next.converged());
            }
}

} // namespace krylith
