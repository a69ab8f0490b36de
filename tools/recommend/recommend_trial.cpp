#include <krylith/tools/recommend/recommend_trial.hpp>

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

namespace {

constexpr std::int64_t first_run = 20;
/// Each run is longer than the one before, so that the last has most of the time.
constexpr double growth = 8;
/// Solves that are over sooner are made three times, and the fastest counts: a busy machine delays
/// one of them by as much as it takes.
constexpr double hasty = 0.05;

solve_request with(const candidate& method, solve_request request) {
    request.solver = method.solver;
    request.preconditioner = method.preconditioner;
    request.options.preconditioning = method.side;
    request.options.restart = method.restart;
    request.options.history = true;
    return request;
}

/// Iterations of the next run; at most `last`: there is no time for a longer one.
std::int64_t next_length(const solve_result& run, double left, std::int64_t limit) {
    const double each = std::max(run.seconds_per_iteration(), 1e-9);
    const double most = std::min(growth * static_cast<double>(run.iterations), left / each);
    return std::min(limit, static_cast<std::int64_t>(std::min(most, 1e15)));
}

void check_convergence(trial& t, const solve_result& r, double atol) {
    t.outcome = verdict::failed;
    t.words.clear();
    t.iterations = r.iterations;
    t.seconds = r.solve_seconds;
    t.seconds_an_iteration = r.seconds_per_iteration();
    t.relative_residual = r.relative_residual();
    t.history = r.history;
    t.rhs_norm = r.rhs_norm;
    t.target = std::max(r.rtol * r.rhs_norm, atol);
    if (r.converged()) {
        t.outcome = verdict::converged;
        t.expected_iterations = r.iterations;
        t.expected_seconds = t.making_seconds + r.solve_seconds;
        return;
    }
    if (r.reason == reason::max_iterations) {
        const double target = std::max(r.rtol * r.rhs_norm, atol);
        const double expected = expected_iterations(r.history, target);
        // A recurrence far below the true residual has nothing to say about it.
        const double best = *std::ranges::min_element(r.history);
        const bool tells = r.true_residual < r.rhs_norm && r.true_residual <= 100 * best;
        if (tells && expected > static_cast<double>(r.iterations) && expected < 1e9) {
            t.outcome = verdict::converging;
            t.expected_iterations = static_cast<std::int64_t>(expected);
            t.expected_seconds = t.making_seconds + expected * t.seconds_an_iteration;
            return;
        }
        t.words = "no progress to speak of";
        return;
    }
    const std::string words = in_words(r.reason);
    t.words = words.substr(words.find(": ") + 2);
}

} // namespace

double expected_iterations(std::span<const double> history, double target) {
    const std::size_t last = history.size() - 1;
    if (history.size() < 3 || !(target > 0)) return 0;
    std::vector<double> best(history.begin(), history.end());
    for (std::size_t k = 1; k <= last; ++k) best[k] = std::fmin(best[k - 1], best[k]);
    const std::size_t half = last / 2;
    if (!(best[last] > 0) || !(best[last] <= best[half] / 2)) return 0;
    const auto rate = [&](std::size_t from) {
        return std::log(best[from] / best[last]) / static_cast<double>(last - from);
    };
    const double left = std::max(0.0, std::log(best[last] / target));
    return static_cast<double>(last) + std::ceil(left / std::min(rate(0), rate(half)));
}

trial_bench::trial_bench(const device_group& group, const csr_matrix<double>& matrix,
                         const operator_options& multiply, std::span<const double> rhs,
                         const matrix_nodes& nodes)
    : matrix_(matrix),
      nodes_(nodes),
      a_(make_operator(group, matrix, multiply)),
      b_(a_->make_range_vector("b")) {
    b_.upload(rhs);
}

trial trial_bench::run(const candidate& method, const solve_request& request, double seconds) {
    trial t;
    t.method = method;
    try {
        const solve_request asked = with(method, request);
        const solver_method& solver = find_solver(asked.solver);
        stopwatch making;
        const auto m =
            make_preconditioner(asked.preconditioner, *a_, csr_view<double>(matrix_), nodes_);
        a_->comm().synchronize();
        t.making_seconds = making.lap();
        seconds -= t.making_seconds;
        auto x = a_->make_range_vector("x");
        solver_options options = asked.checked_options();
        std::int64_t limit = options.max_iterations >= 0
                                 ? options.max_iterations
                                 : std::min<std::int64_t>(10 * matrix_.rows, 10000);
        options.max_iterations = std::min(first_run, limit);
        int repeats = 0;
        for (;;) {
            const solve_result r = solver.solve(*a_, b_, x, options, m);
            seconds -= r.solve_seconds;
            const double before = t.expected_seconds;
            check_convergence(t, r, asked.options.atol);
            t.limit = limit;
            if (repeats > 0) {
                t.expected_seconds = std::min(before, t.expected_seconds);
                t.seconds = t.expected_seconds - t.making_seconds;
            }
            if (r.converged() && r.solve_seconds < hasty && ++repeats < 3) continue;
            if (r.reason != reason::max_iterations) break;
            // An expectation beyond the usual limit is put to the test while there is time.
            if (t.outcome == verdict::converging && asked.options.max_iterations < 0)
                limit = std::max(limit, t.expected_iterations * 3 / 2);
            const std::int64_t next = next_length(r, seconds, limit);
            if (next <= r.iterations + r.iterations / 4) {
                // Cut off by time, unless what a solve may make is all but used up.
                const bool in_time = limit <= r.iterations + r.iterations / 4;
                if (t.outcome == verdict::failed && !in_time) {
                    t.outcome = verdict::unfinished;
                    t.words = fmt::format("{} of {} iterations, the residual doesn't fall yet",
                                          t.iterations, limit);
                }
                break;
            }
            options.max_iterations = next;
        }
    } catch (const input_error& refused) {
        t.words = refused.what();
    } catch (const device_error& failure) {
        t.words = failure.what();
    } catch (const std::bad_alloc&) {
        t.words = "too little memory";
    }
    return t;
}

} // namespace krylith::tool
