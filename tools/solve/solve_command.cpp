// krylith solve MATRIX
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/given_command.hpp>
#include <krylith/tools/cli/method_help.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/near_null.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/processes.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/solve/solve_outputs.hpp>
#include <krylith/tools/solve/solve_report.hpp>
#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

namespace {

struct solve_job {
    solve_request request; ///< its matrix is one after the other of these
    std::vector<std::string> matrices;
    std::string side = to_string(solver_options{}.preconditioning);
    std::string execution = "auto";
    std::string history;
    std::string report;
    std::string plot;
    std::optional<std::int64_t> monitor;
    bool quiet = false;

    [[nodiscard]] bool tells() const { return !(report.empty() && plot.empty()); }
    /// Another process prints, and writes files.
    void silence() {
        quiet = true;
        monitor.reset();
        for (std::string* file : {&request.solution_file, &history, &report, &plot}) file->clear();
    }
};

void add_problem(CLI::App& app, solve_job& job) {
    solve_request& request = job.request;
    app.add_option("MATRIX", job.matrices,
                   "A file (see below), - for standard input, or gallery:NAME[:ARGUMENT...]; "
                   "several are solved one after the other")
        ->required()
        ->type_name("");
    add_spd(app, request.spd);
    app.add_flag("--match-rows", request.match_rows,
                 "Take the rows, and b, in the order that has the largest product of magnitudes on "
                 "the diagonal, for unsymmetric matrices whose diagonal is weak or has zeros; x "
                 "stays the same");
    app.add_option("--rhs", request.rhs,
                   "Right-hand side b. ones: all entries 1. row-sums: A times ones, so that the "
                   "solution is ones. range:SEED: A times random:SEED, so that there is a solution "
                   "even if A is singular. random:SEED: uniform in [-1, 1), the same on every "
                   "machine. FILE: an array of several columns solves for each of them")
        ->type_name(vector_source_forms)
        ->capture_default_str();
    app.add_option("--x0", request.x0, "Start from the vector in this file instead of zero")
        ->type_name("FILE");
}

void add_method(CLI::App& app, solve_job& job) {
    solve_request& request = job.request;
    solver_options& options = request.options;
    const auto add = [&](const char* name, auto& value, const std::string& type, const char* help) {
        app.add_option(name, value, help)->type_name(type)->capture_default_str()->group("Solver");
    };
    add("--solver", request.solver, alternatives(solver_choices()), solver_help().c_str());
    add("--precond", request.preconditioner, alternatives(preconditioner_choices()),
        ("auto is what suits the matrix with solver auto, amg, jacobi or none and the next where "
         "one fails, and none with others; " +
         preconditioner_help())
            .c_str());
    add("--coordinates", request.coordinates, coordinates_forms,
        "precond amg, auto: an array of nodes x dimension, for rigid body modes. Rows are the "
        "unknowns of a node, node by node. Without: those of gallery:elasticity3d; none: no modes");
    add("--side", job.side, alternatives(side_names),
        "Side of the preconditioner in gmres and bicgstab; cg is the same on all");
    add_rtol(app, options.rtol);
    app.get_option("--rtol")->group("Solver");
    add("--atol", options.atol, "ATOL", "See --rtol");
    app.add_option("--rtol-normal", options.rtol_normal,
                   "lsqr: converged is also ||A'(b - A x)|| <= RTOL ||A|| ||b - A x||, where no x "
                   "solves A x = b [as --rtol]")
        ->type_name("RTOL")
        ->group("Solver");
    add("--damping", options.damping, "D",
        "lsqr: minimise ||b - A x||^2 + D^2 ||x||^2; residuals are those of A with D times the "
        "identity below it");
    app.add_option("--max-iterations", options.max_iterations,
                   "Give up after so many [min(10 n, 10000)]; solver auto counts all attempts, and "
                   "has defaults of its own")
        ->type_name("K")
        ->group("Solver");
    add("--restart", options.restart, "M", "gmres: basis vectors before it starts anew");
    add("--polynomial-degree", options.polynomial_degree, "L", "bicgstab_l: steps in a cycle");
    add("--shadow-vectors", options.shadow_vectors, "S", "idr: products in a cycle, but for one");
    app.add_option("--max-seconds", options.max_seconds,
                   "End the solve at the end of a trip of its loop after so long")
        ->type_name("S")
        ->group("Solver");
    add("--execution", job.execution, alternatives(execution_names),
        "recorded: the devices repeat the iteration by themselves; eager: the host enqueues all");
}

void add_output(CLI::App& app, solve_job& job) {
    const auto add = [&](const char* name, std::string& file, const char* type, const char* help) {
        app.add_option(name, file, help)->type_name(type)->group("Output");
    };
    add("--solution", job.request.solution_file, "FILE", vector_output_help("x").c_str());
    add("--history", job.history, "FILE.csv", "Residual norm by iteration");
    add_report(app, job.report);
    app.get_option("--report")
        ->description("Everything as JSON, an array of several solves, or as a page to look at; "
                      "-: JSON on standard output")
        ->type_name("FILE.json|FILE.html|-");
    add("--plot", job.plot, "FILE.svg", "The convergence curves");
    app.add_option("--monitor", job.monitor,
                   "Print the residual every N iterations [1], where the summary goes")
        ->expected(0, 1)
        ->default_str("1")
        ->type_name("N")
        ->group("Output");
    app.add_flag("--quiet", job.quiet, "No summary; the exit status tells")->group("Output");
}

void check_watching(const solve_job& job) {
    if (job.monitor && *job.monitor < 1)
        throw usage_error(fmt::format("--monitor is {}: allowed are 1 and more", *job.monitor));
    const double seconds = job.request.options.max_seconds;
    if (!(seconds >= 0))
        throw usage_error(fmt::format("--max-seconds is {}: allowed are 0 and more", seconds));
}

/// Several matrices can't all be written to one file of numbers.
void check_several(const solve_job& job) {
    if (job.matrices.size() == 1) return;
    for (const named_file& output : {named_file{"--solution", job.request.solution_file},
                                     named_file{"--history", job.history}})
        if (!output.path.empty())
            throw usage_error(fmt::format("{} is for one matrix, and {} are given: allowed is to "
                                          "solve them one by one",
                                          output.option, job.matrices.size()));
}

/// Launchers give standard input to one process, and all read.
void check_inputs(const solve_job& job) {
    std::vector<std::string> inputs = job.matrices;
    inputs.push_back(parse_vector_source("--rhs", job.request.rhs).path);
    inputs.push_back(job.request.x0);
    if (std::ranges::count(inputs, "-") != 0)
        throw usage_error("several processes can't read standard input: allowed are files");
}

void check_files(const solve_job& job) {
    check_several(job);
    std::vector<named_file> inputs = {{"--rhs", parse_vector_source("--rhs", job.request.rhs).path},
                                      {"--x0", job.request.x0}};
    for (const std::string& matrix : job.matrices) inputs.push_back({"MATRIX", matrix});
    check_outputs({vector_output("--solution", job.request.solution_file),
                   {"--history", job.history, {".csv"}},
                   {"--report", job.report, {".json", ".html", ".htm"}},
                   {"--plot", job.plot, {".svg"}}},
                  inputs);
}

/// Solves with one of the matrices, and adds what there is to tell.
solve_result solve_one(const solve_job& job, const solve_watch& watch, process_team& team,
                       std::vector<told_solve>& told) {
    const solve_outcome outcome = job.request.multiply.single_precision()
                                      ? run_solve<float>(job.request, watch, team)
                                      : run_solve<double>(job.request, watch, team);
    if (!job.history.empty()) write_text(job.history, csv_history(outcome.result));
    if (job.tells()) told.push_back(tell(job.request, outcome, given_command()));
    watch.say(outcome_lines(job.request, outcome));
    return outcome.result;
}

exit_status solve_all(solve_job& job, process_team& team) {
    solver_options& options = job.request.options;
    options.preconditioning = by_name<side>("side", job.side, side_names);
    options.mode = by_name<execution_mode>("execution", job.execution, execution_names);
    job.request.sparsity = is_page(job.report);
    job.request.curve_option = !job.history.empty() ? "--history"
                               : !job.plot.empty()  ? "--plot"
                                                    : "";
    // Standard output is for whoever reads the report, if that goes there.
    const solve_watch watch({job.monitor, job.quiet, job.report == "-" ? stderr : stdout});
    std::vector<told_solve> told;
    exit_status worst = exit_status::success;
    for (const std::string& matrix : job.matrices) {
        job.request.matrix = matrix;
        exit_status status = exit_status::success;
        bool interrupted = false;
        try {
            const solve_result result = solve_one(job, watch, team, told);
            if (!result.converged()) status = exit_status::not_converged;
            interrupted = result.reason == reason::interrupted;
        } catch (const std::exception& failure) {
            if (job.matrices.size() == 1) throw;
            // The others are solved all the same.
            status = team.tell(failure);
            told.push_back(tell_failure(matrix, failure.what()));
        }
        worst = std::max(worst, status);
        if (interrupted) break; // whoever interrupts one of several doesn't want the others
        if (!job.quiet && &matrix != &job.matrices.back())
            print(job.report == "-" ? stderr : stdout, "\n");
    }
    if (!job.plot.empty()) write_text(job.plot, plot_text(told));
    if (!job.report.empty()) write_text(job.report, report_text(told, job.report));
    return worst;
}

exit_status run_solve_job(solve_job job) {
    check_watching(job);
    check_files(job);
    process_team team(job.request.devices);
    try {
        // The usual number of iterations takes so little memory that cg may estimate the spectrum.
        job.request.options.history =
            job.request.options.max_iterations < 0 || job.tells() || !job.history.empty();
        if (!team.is_first()) job.silence();
        if (!team.has_one()) check_inputs(job);
        return solve_all(job, team);
    } catch (const std::exception& failure) {
        if (team.has_one()) throw;
        return team.tell(failure);
    }
}

} // namespace

command add_solve(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand("solve", "Solve A x = b");
    auto job = std::make_shared<solve_job>();
    add_problem(*app, *job);
    add_method(*app, *job);
    add_operator_options(*app, job->request.multiply);
    add_device_options(*app, job->request.devices);
    add_transports(*app, job->request.multiply);
    add_timeout(*app, job->request.devices);
    add_processes(*app, job->request.devices);
    app->get_option("--devices")
        ->type_name("N|LIST|auto")
        ->description("The first N devices, those of the list (0,2 or 2, for one), or as many as a "
                      "model finds fastest");
    add_output(*app, *job);
    return {app, [job] { return run_solve_job(*job); }};
}

} // namespace krylith::tool
