#include <krylith/bench/calls/calls_measure.hpp>

#include <algorithm>
#include <cmath>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

/// An operator with everything that calls need.
class caller {
public:
    caller(const device_group& group, const csr_matrix<double>& matrix, const solver_method& solver,
           const std::string& preconditioner)
        : solver_(solver),
          matrix_(matrix),
          a_(make_operator(group, matrix, {.transposed_products = solver.least_squares})),
          m_(make_preconditioner(preconditioner, *a_, csr_view<double>(matrix_))),
          b_(a_->make_range_vector()),
          x_(a_->make_range_vector()),
          values_(matrix.values.size()) {
        b_.upload(std::vector<double>(static_cast<std::size_t>(matrix.rows), 1.0));
        group.synchronize();
    }

    /// Returns the seconds of a call.
    double call(const solver_options& options) {
        const tool::stopwatch watch;
        last_ = solver_.solve(*a_, b_, x_, options, m_);
        return watch.seconds();
    }
    double fresh_call(const solver_options& options) {
        a_->release_workspace();
        a_->comm().synchronize();
        return call(options);
    }
    /// Scales the matrix by rows and columns, so that other values need other iterations.
    double update(int step) {
        const auto d = [&](std::int64_t row) {
            return 1 + 0.1 * std::sin(static_cast<double>(row + 3 * step));
        };
        for (std::int64_t row = 0; row < matrix_.rows; ++row)
            for (auto k = matrix_.row_offsets[static_cast<std::size_t>(row)];
                 k < matrix_.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
                const auto at = static_cast<std::size_t>(k);
                values_.resize(matrix_.values.size());
                values_[at] = matrix_.values[at] * d(row) * d(matrix_.column_indices[at]);
            }
        const tool::stopwatch watch;
        a_->update(values_);
        if (!m_.is_identity()) {
            csr_view<double> now(matrix_);
            now.values = values_;
            m_.update(now);
        }
        a_->comm().synchronize();
        return watch.seconds();
    }

    [[nodiscard]] const solve_result& last() const { return last_; }
    [[nodiscard]] std::vector<double> solution() const {
        std::vector<double> x(static_cast<std::size_t>(matrix_.rows));
        x_.download(x);
        return x;
    }

private:
    const solver_method& solver_;
    csr_matrix<double> matrix_;
    std::unique_ptr<matrix_operator<double>> a_;
    any_preconditioner<double> m_;
    vector<double> b_;
    vector<double> x_;
    std::vector<double> values_;
    solve_result last_;
};

/// Measures calls that a limit ends, after whole trips where there are several: what a call costs
/// beside its iterations drops out.
spread seconds_an_iteration(caller& c, solver_options options, std::int64_t iterations) {
    const std::int64_t trip = options.unroll;
    const bool trips = iterations > 2 * trip;
    const std::int64_t more = trips ? (iterations - 1) / trip * trip : iterations;
    const std::int64_t fewer =
        trips ? more / (2 * trip) * trip : std::min<std::int64_t>(1, more - 1);
    const auto call = [&](std::int64_t limit) {
        options.max_iterations = limit;
        return c.call(options);
    };
    std::vector<double> seconds;
    for (int i = 0; i < 100; ++i)
        seconds.push_back((call(more) - call(fewer)) / static_cast<double>(more - fewer));
    return spread_of(std::move(seconds));
}

template <class Call>
spread repeated(int times, const Call& call) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) seconds.push_back(call());
    return spread_of(std::move(seconds));
}

} // namespace

call_numbers measure_calls(const device_group& group, const csr_matrix<double>& matrix,
                           const solver_method& solver, const std::string& preconditioner,
                           int steps) {
    call_numbers numbers;
    caller c(group, matrix, solver, preconditioner);
    const solver_options usual{.rtol = 1e-8};
    (void)c.call(usual);
    numbers.iterations = c.last().iterations;
    if (!c.last().converged())
        numbers.void_because.push_back("not converged: " + c.last().diagnosis);
    numbers.iteration = seconds_an_iteration(c, usual, numbers.iterations);
    numbers.fresh = repeated(20, [&] { return c.fresh_call(usual); });
    numbers.kept = repeated(200, [&] { return c.call(usual); });
    int step = 0;
    numbers.update = repeated(20, [&] { return c.update(step++); });
    double sum = 0;
    for (step = 0; step < steps; ++step) {
        sum += c.update(step) + c.call(usual);
        if (!c.last().converged()) {
            numbers.void_because.push_back("step " + std::to_string(step) +
                                           ": not converged: " + c.last().diagnosis);
            break;
        }
    }
    numbers.steps = sum / std::max(1, steps);
    const auto found = c.solution();
    (void)c.fresh_call(usual);
    if (c.solution() != found) numbers.void_because.emplace_back("other bits with nothing kept");
    return numbers;
}

} // namespace krylith::bench
