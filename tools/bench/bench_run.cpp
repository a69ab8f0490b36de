#include <krylith/tools/bench/bench_run.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <span>

#include <krylith/device/error.hpp>
#include <krylith/tools/cli/name_check.hpp>
#include <krylith/tools/cli/vector_source.hpp>
#include <krylith/tools/model/byte_model.hpp>
#include <krylith/tools/solve/solver_registry.hpp>
#include <krylith/tools/solve/square_matrix.hpp>
#include <krylith/tools/spmv/spmv_run.hpp>

namespace krylith::tool {

namespace {

const std::int64_t default_restart = solver_options{}.restart;

/// Quantiles of repeated measurements.
void measure(bench_row& row, int repetitions, const std::function<double()>& seconds) {
    std::vector<double> times(static_cast<std::size_t>(repetitions));
    std::ranges::generate(times, seconds);
    std::ranges::sort(times);
    const auto at = [&](double fraction) {
        return times[static_cast<std::size_t>(
            std::lround(fraction * static_cast<double>(times.size() - 1)))];
    };
    row.median_seconds = at(0.5);
    row.p10_seconds = at(0.1);
    row.p90_seconds = at(0.9);
}

template <class T>
class solver_bench {
public:
    solver_bench(const bench_request& request, const csr_matrix<T>& matrix,
                 const matrix_operator<T>& a)
        : solve_(find_solver<T>(request.what)),
          a_(a),
          b_(a.make_range_vector("b")),
          x_(a.make_range_vector("x")),
          m_(make_preconditioner(request.preconditioner, a, matrix)) {
        b_.upload(make_values(vector_source{vector_source::form::random, 1, {}}, matrix));
    }

    [[nodiscard]] solve_result run(const solver_options& options) {
        return solve_(a_, b_, x_, options, m_.get());
    }

    /// Of one iteration behind the warm-up. Tries again where other work on the machine has made
    /// the shorter run the longer one.
    [[nodiscard]] double seconds(const bench_request& request) {
        constexpr int most_tries = 20;
        for (int k = 0; k < most_tries; ++k) {
            const solve_result before = run(fixed(request, request.warm_up));
            const solve_result after = run(fixed(request, request.warm_up + request.iterations));
            const std::int64_t between = after.iterations - before.iterations;
            if (between < 1)
                throw usage_error("the solve ends within " + std::to_string(before.iterations) +
                                  " iterations: too few to time; use a larger matrix");
            const double difference = after.solve_seconds - before.solve_seconds;
            if (difference > 0) return difference / static_cast<double>(between);
        }
        throw usage_error("--iterations " + std::to_string(request.iterations) +
                          " take less time than runs differ by on this machine: use more "
                          "iterations, a larger matrix, or a machine that does nothing else");
    }

    void solve_whole(const bench_request& request, bench_row& row) {
        const solver_options options{.timeout_seconds = request.devices.timeout_seconds};
        const solve_result first = run(options);
        const std::vector<T> x = solution();
        const solve_result second = run(options);
        row.rtol = second.rtol;
        row.solve_iterations = second.iterations;
        row.solve_seconds = second.solve_seconds;
        row.relative_true_residual = second.relative_residual();
        row.converged = second.converged();
        const std::vector<T> again = solution();
        row.repeats = first.iterations == second.iterations &&
                      std::memcmp(x.data(), again.data(), x.size() * sizeof(T)) == 0;
    }

private:
    /// Goes on to the limit whatever the residual is.
    [[nodiscard]] static solver_options fixed(const bench_request& request,
                                              std::int64_t iterations) {
        return {.rtol = 0,
                .max_iterations = iterations,
                .timeout_seconds = request.devices.timeout_seconds};
    }

    [[nodiscard]] std::vector<T> solution() const {
        std::vector<T> values(static_cast<std::size_t>(x_.size()));
        x_.download(values);
        return values;
    }

    solver_function<T> solve_;
    const matrix_operator<T>& a_;
    vector<T> b_;
    vector<T> x_;
    std::unique_ptr<jacobi<T>> m_;
};

void check_what(const std::string& what) {
    std::vector<std::string_view> valid = {"spmv"};
    valid.insert(valid.end(), solver_names().begin(), solver_names().end());
    check_name("benchmark", what, valid);
}

void check_at_least_one(const std::string& option, std::int64_t given) {
    if (given < 1)
        throw usage_error(option + " is " + std::to_string(given) + ": allowed are 1 and more");
}

} // namespace

template <class T>
std::vector<bench_row> run_bench(const bench_request& request) {
    check_what(request.what);
    check_preconditioner(request.preconditioner);
    check_at_least_one("--warm-up", request.warm_up);
    check_at_least_one("--iterations", request.iterations);
    check_at_least_one("--repetitions", request.repetitions);
    const csr_matrix<T> matrix = load_square<T>(request.matrix, request.spd);
    const traffic bytes{matrix.rows, matrix.nnz(), sizeof(T)};
    std::vector<bench_row> rows;
    for (const int count : request.counts) {
        const auto a = make_operator(first_devices(request.devices, count), matrix,
                                     request.multiply.options());
        bench_row row;
        row.devices = count;
        row.operator_name = to_string(a->kind());
        row.format_name = a->format_name();
        if (request.what == "spmv") {
            auto x = a->make_domain_vector("x");
            x.upload(std::vector<T>(static_cast<std::size_t>(matrix.rows), T(1)));
            row.bytes = bytes.product();
            measure(row, request.repetitions, [&] {
                return time_product(*a, x, T(1), T(0), request.iterations,
                                    {.timeout_seconds = request.devices.timeout_seconds});
            });
        } else {
            solver_bench<T> bench(request, matrix, *a);
            row.bytes = bytes
                            .iteration({request.what, request.preconditioner, default_restart,
                                        request.warm_up + request.iterations})
                            .value_or(0);
            measure(row, request.repetitions, [&] { return bench.seconds(request); });
            bench.solve_whole(request, row);
        }
        rows.push_back(row);
    }
    return rows;
}

template std::vector<bench_row> run_bench<double>(const bench_request&);
template std::vector<bench_row> run_bench<float>(const bench_request&);

} // namespace krylith::tool
