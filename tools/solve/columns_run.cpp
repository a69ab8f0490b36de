#include <krylith/tools/solve/columns_run.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/solvers/column_solver.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/tools/solve/failure_advice.hpp>
#include <krylith/tools/solve/operator_description.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

namespace {

void check_outputs_of_columns(const solve_request& request, std::int64_t columns) {
    if (!request.curve_option.empty())
        throw usage_error(fmt::format("{} is for one right-hand side, and --rhs has {}",
                                      request.curve_option, columns));
    if (!request.solution_file.empty()) check_columns_path(request.solution_file, columns);
}

/// Returns the initial guesses, a column each; zeros where none are given.
template <class T>
dense_columns<T> guesses(const solve_request& request, std::int64_t rows, std::int64_t columns) {
    if (request.x0.empty())
        return {rows, columns, std::vector<T>(as_size(rows) * as_size(columns))};
    dense_columns<T> x = load_columns<T>(request.x0, rows);
    if (x.rows != rows || x.columns != columns)
        throw input_error(fmt::format("{} has {} rows and {} columns, the solution {} and {}: they "
                                      "must agree",
                                      request.x0, x.rows, x.columns, rows, columns));
    return x;
}

/// What the joint loop multiplies by.
void describe_joint(solve_outcome& out, const device_group& group) {
    out.devices = descriptions(group);
    out.kind = group.kind();
    out.operator_name = to_string(operators::halo);
    out.operator_because = "of the loop for several right-hand sides";
    out.format_name = to_string(formats::csr);
    out.transport = to_string(choose_transport(group, transports::automatic));
    out.transport_because = "the operator's own";
}

/// The first column that failed, or that with the most iterations.
const solve_result& representative(const std::vector<solve_result>& results) {
    const auto failed =
        std::ranges::find_if(results, [](const solve_result& r) { return !r.converged(); });
    return failed != results.end()
               ? *failed
               : *std::ranges::max_element(results, {}, &solve_result::iterations);
}

/// Columns of one loop share its time.
double solve_seconds(const std::vector<solve_result>& results, int columns_a_loop) {
    double sum = 0;
    for (std::size_t j = 0; j < results.size(); j += static_cast<std::size_t>(columns_a_loop))
        sum += results[j].solve_seconds;
    return sum;
}

} // namespace

template <class T>
void run_columns(const solve_request& request, const solve_watch& watch,
                 const csr_matrix<T>& matrix, const device_group& group, const near_null& modes,
                 const dense_columns<T>& b, solve_outcome& out) {
    check_outputs_of_columns(request, b.columns);
    dense_columns<T> x = guesses<T>(request, matrix.columns, b.columns);
    solver_options options = request.checked_options();
    options.history = false;
    stopwatch clock;
    column_solver<T> solver(group, csr_view<T>(matrix), static_cast<int>(b.columns),
                            {.solver = request.solver,
                             .preconditioner = request.preconditioner,
                             .at_once = !watch.monitors()},
                            options, request.multiply.options(), modes.nodes());
    group.synchronize();
    out.setup_seconds = clock.lap();
    const bool at_once = solver.one_by_one_because().empty();
    if (at_once) {
        describe_joint(out, group);
        out.preconditioner_bytes = solver.preconditioner().bytes();
        out.levels = solver.preconditioner().levels();
    } else
        describe(out, request, *solver.single_operator(), solver.preconditioner());
    watch.say(operator_lines(out));
    {
        const solve_watch::running running(watch, solver.options());
        if (at_once) solver.options().callback = {};
        out.right_hand_sides = solver.solve(b.values, x.values);
    }
    const double passed = clock.lap();
    out.columns_a_loop = solver.columns_a_loop();
    out.one_by_one_because = solver.one_by_one_because();
    out.solver = solver.solver_name();
    out.preconditioner = solver.preconditioner_name();
    out.solver_because = solver.solver_because();
    out.result = representative(out.right_hand_sides);
    out.result.solve_seconds = solve_seconds(out.right_hand_sides, out.columns_a_loop);
    out.transfer_seconds = std::max(0.0, passed - out.result.solve_seconds);
    if (const solve_attempt* const best = out.result.best_attempt(); best != nullptr && !at_once) {
        out.solver = best->solver;
        out.preconditioner = best->preconditioner;
        out.preconditioner_bytes = best->preconditioner_bytes;
        out.levels = best->levels;
    }
    if (!out.result.recorded)
        out.eager_because =
            !at_once ? why_eager(request, *solver.single_operator(), solver.preconditioner())
            : request.options.mode == execution_mode::eager ? "--execution eager"
                                                            : group.serialised_because();
    out.max_iterations = request.options.max_iterations;
    out.result.diagnosis = explained(request, out.result, &matrix);
    if (std::string warning = rtol_warning<T>(out.result); !warning.empty())
        out.warnings.push_back(std::move(warning));
    if (!request.solution_file.empty())
        save_columns(request.solution_file, x, "solutions of " + request.matrix);
}

template void run_columns(const solve_request&, const solve_watch&, const csr_matrix<double>&,
                          const device_group&, const near_null&, const dense_columns<double>&,
                          solve_outcome&);
template void run_columns(const solve_request&, const solve_watch&, const csr_matrix<float>&,
                          const device_group&, const near_null&, const dense_columns<float>&,
                          solve_outcome&);

} // namespace krylith::tool
