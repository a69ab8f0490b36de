#include <krylith/bench/solver/solver_measure.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace krylith::bench {

namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// The drift that is allowed to solvers that judge themselves by the recurrence.
constexpr double most_drift = 1.01;

void measure_solves(const workload& w, solver_contestant& contestant, const solver_plan& plan,
                    solver_numbers& numbers) {
    auto& faults = numbers.void_because;
    numbers.first = contestant.solve(plan.rtol, plan.max_iterations);
    numbers.relative_residual = true_residual(w, numbers.first.x) / w.rhs_norm;
    const double rounding =
        plan.epsilon > 0 ? 4 * plan.epsilon * residual_scale(w, numbers.first.x) / w.rhs_norm : 0;
    if (!numbers.first.converged) {
        faults.push_back("not converged: " + numbers.first.reason);
    } else if (!(numbers.relative_residual <= most_drift * plan.rtol + rounding)) {
        faults.push_back(fmt::format("true residual {:.3e}", numbers.relative_residual));
    }
    std::vector<double> seconds;
    for (int i = 0; i < plan.solves; ++i) {
        const solver_outcome again = contestant.solve(plan.rtol, plan.max_iterations);
        seconds.push_back(again.seconds);
        numbers.repeats = numbers.repeats && again.iterations == numbers.first.iterations &&
                          same_bits(again.x, numbers.first.x) &&
                          same_bits(again.history, numbers.first.history);
    }
    if (!numbers.repeats) {
        faults.emplace_back("other bits on repeating the solve");
    }
    numbers.solve = spread_of(std::move(seconds));
}

} // namespace

std::vector<solver_numbers> measure_solvers(const workload& w,
                                            std::span<solver_contestant* const> contestants,
                                            const solver_plan& plan) {
    std::vector<timed_run> runs;
    for (solver_contestant* const c : contestants) {
        runs.emplace_back([c](std::int64_t steps) { return c->iterate(steps); });
    }
    const std::vector<spread> slopes = measure_slopes(runs, plan.effort);
    std::vector<solver_numbers> result;
    for (std::size_t i = 0; i < contestants.size(); ++i) {
        solver_numbers numbers;
        numbers.solver = contestants[i]->name();
        numbers.setup_seconds = contestants[i]->setup_seconds();
        numbers.iteration = slopes[i];
        if (!(numbers.iteration.median > 0)) {
            numbers.void_because.emplace_back("the longer runs were not slower");
        }
        if (plan.solves > 0) {
            measure_solves(w, *contestants[i], plan, numbers);
        }
        result.push_back(std::move(numbers));
    }
    return result;
}

void compare_device_counts(const solver_numbers& first, solver_numbers& numbers) {
    const auto& expected = first.first;
    const auto& found = numbers.first;
    if (found.iterations != expected.iterations) {
        numbers.void_because.push_back(
            fmt::format("{} iterations instead of {}", found.iterations, expected.iterations));
    }
    const std::size_t both = std::min(found.history.size(), expected.history.size());
    for (std::size_t k = 0; k < both && expected.history[k] > 1e-6 * expected.history[0]; ++k) {
        const double difference = std::fabs(found.history[k] - expected.history[k]);
        if (!(difference <= 1e-10 * expected.history[k])) {
            numbers.void_because.push_back(
                fmt::format("residual of iteration {} differs by {:.1e} relative", k,
                            difference / expected.history[k]));
            return;
        }
    }
}

} // namespace krylith::bench
