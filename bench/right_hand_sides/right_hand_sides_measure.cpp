#include <krylith/bench/right_hand_sides/right_hand_sides_measure.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <krylith/bench/common/slope.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::bench {

namespace {

std::vector<double> random_columns(std::size_t rows, int columns) {
    std::vector<double> b;
    for (int j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < rows; ++i)
            b.push_back(2 * unit_interval(counter_hash(static_cast<std::uint64_t>(100 + j), i)) -
                        1);
    return b;
}

/// One of the two ways, with its x.
class contestant {
public:
    contestant(const device_group& group, const workload& w, const right_hand_sides_task& task,
               bool at_once)
        : columns_(task.columns),
          solver_(group, csr_view<double>(w.matrix), task.columns,
                  {task.method.solver, task.method.preconditioner, at_once}, {.rtol = task.rtol}),
          x_(static_cast<std::size_t>(w.n() * task.columns)) {}

    void run(const std::vector<double>& b, bool keep) {
        const tool::stopwatch watch;
        const std::vector<solve_result> results = solver_.solve(b, x_);
        const double whole = watch.seconds();
        if (!keep) return;
        double seconds = 0; // columns of one loop share its time
        const auto step = static_cast<std::size_t>(solver_.columns_a_loop());
        for (std::size_t j = 0; j < results.size(); j += step) seconds += results[j].solve_seconds;
        times_.solve.push_back(seconds / columns_);
        times_.call.push_back(whole / columns_);
        times_.iterations = 0;
        for (const solve_result& result : results) {
            times_.iterations = std::max(times_.iterations, result.iterations);
            times_.form = result.form;
            if (!result.converged()) failed_ = result.diagnosis;
        }
    }

    /// The times, with the residuals checked.
    column_times finish(workload& w, const std::vector<double>& b) {
        const auto rows = static_cast<std::ptrdiff_t>(w.n());
        for (std::ptrdiff_t j = 0; j < columns_; ++j) {
            w.b.assign(b.begin() + j * rows, b.begin() + (j + 1) * rows);
            double bb = 0;
            for (const double entry : w.b) bb += entry * entry;
            const std::span<const double> x(x_.data() + j * rows, static_cast<std::size_t>(rows));
            times_.relative_residual =
                std::fmax(times_.relative_residual, true_residual(w, x) / std::sqrt(bb));
        }
        if (times_.iterations > 0)
            times_.iteration =
                spread_of(times_.solve).median * columns_ / static_cast<double>(times_.iterations);
        return times_;
    }

    [[nodiscard]] const column_solver<double>& solver() const { return solver_; }
    [[nodiscard]] const std::string& failed() const { return failed_; }

private:
    int columns_;
    column_solver<double> solver_;
    std::vector<double> x_;
    column_times times_;
    std::string failed_;
};

} // namespace

right_hand_sides_numbers measure_right_hand_sides(const device_group& group, workload& w,
                                                  const right_hand_sides_task& task) {
    const std::vector<double> b = random_columns(static_cast<std::size_t>(w.n()), task.columns);
    contestant together(group, w, task, true);
    contestant apart(group, w, task, false);
    right_hand_sides_numbers numbers;
    const std::string& why_not = together.solver().one_by_one_because();
    if (!why_not.empty()) numbers.void_because.push_back("not solved at once: " + why_not);
    for (int i = -1; i < task.repetitions; ++i) {
        together.run(b, i >= 0);
        apart.run(b, i >= 0);
    }
    numbers.columns_a_loop = together.solver().columns_a_loop();
    numbers.at_once = together.finish(w, b);
    numbers.one_by_one = apart.finish(w, b);
    for (const contestant* const one : {&together, &apart})
        if (!one->failed().empty()) numbers.void_because.push_back("failed: " + one->failed());
    for (const column_times* const one : {&numbers.at_once, &numbers.one_by_one})
        if (!(one->relative_residual <= 1.01 * task.rtol))
            numbers.void_because.push_back(
                fmt::format("||b - A x|| / ||b|| is {:.2e}", one->relative_residual));
    return numbers;
}

} // namespace krylith::bench
