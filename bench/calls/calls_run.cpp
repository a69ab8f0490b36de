#include <krylith/bench/calls/calls_run.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/calls/calls_measure.hpp>
#include <krylith/bench/common/shared_options.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/tools/cli/method_help.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

constexpr const char* calls_line =
    "{:<24} {:>7} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}{}\n";

} // namespace

void add_options(CLI::App& app, calls_request& q) {
    const auto add = [&](const char* name, auto& value, const std::string& type, const char* help) {
        return app.add_option(name, value, help)->type_name(type)->capture_default_str();
    };
    add_matrices(app, q.matrices, "gallery:poisson3d:16");
    add("--solver", q.solver, tool::alternatives(solver_names()), "Solver");
    add("--precond", q.preconditioner, tool::alternatives(preconditioner_names()),
        tool::preconditioner_help().c_str());
    add("--steps", q.steps, "N", "Time steps, each with other values and a solve");
    add_backend(app, q.devices);
    add_device_counts(app, q.counts);
    tool::add_report(app, q.report_file);
    add_csv(app, q.csv_file);
}

calls_run::calls_run(const calls_request& request)
    : request_((check_files(request.report_file, request.csv_file, request.matrices), request)),
      choice_(choose_devices(request.devices, request.counts)),
      report_("calls", request.report_file),
      csv_(request.csv_file, calls_csv_columns()) {
    (void)find_solver(request_.solver);
    (void)parse_preconditioner(request_.preconditioner);
    if (request_.steps < 1)
        throw usage_error("--steps is " + std::to_string(request_.steps) +
                          ": allowed are 1 and more");
    if (request_.matrices.empty()) request_.matrices = {"gallery:poisson3d:16"};
    report_.describe_devices(choice_);
    report_.set_option("solver", request_.solver);
    report_.set_option("precond", request_.preconditioner);
    report_.set_option("steps", request_.steps);
}

bool calls_run::run() {
    report_.say(fmt::format("{}\n{}, preconditioner {}, {} steps; us\n\n{}",
                            fmt::join(descriptions(choice_.group(choice_.counts.back())), ", "),
                            request_.solver, request_.preconditioner, request_.steps,
                            calls_table_head()));
    for (const std::string& name : request_.matrices)
        for (const int devices : choice_.counts) {
            json row = measure(name, devices);
            report_.say(calls_table_lines(row));
            csv_.add(row);
            report_.add(std::move(row));
        }
    return report_.finish();
}

json calls_run::measure(const std::string& name, int devices) const {
    const auto matrix = load_matrix<double>(name);
    const call_numbers n =
        measure_calls(choice_.group(devices), matrix, find_solver(request_.solver),
                      request_.preconditioner, request_.steps);
    return {{"matrix", name},
            {"devices", devices},
            {"n", matrix.rows},
            {"nnz", matrix.nnz()},
            {"iterations", n.iterations},
            {"us_per_iteration", to_json(n.iteration, 1e6)},
            {"us_call", to_json(n.kept, 1e6)},
            {"us_call_fresh", to_json(n.fresh, 1e6)},
            {"us_beside_iterations", 1e6 * n.beside(n.kept)},
            {"us_beside_iterations_fresh", 1e6 * n.beside(n.fresh)},
            {"us_update", to_json(n.update, 1e6)},
            {"us_step", 1e6 * n.steps},
            {"void_because", n.void_because}};
}

std::vector<std::string> calls_csv_columns() {
    return {"matrix",
            "devices",
            "n",
            "nnz",
            "iterations",
            "us_per_iteration/median",
            "us_call/median",
            "us_call/p10",
            "us_call/p90",
            "us_call_fresh/median",
            "us_beside_iterations",
            "us_beside_iterations_fresh",
            "us_update/median",
            "us_step",
            "void_because"};
}

std::string calls_table_head() {
    return fmt::format(fmt::runtime(calls_line), "matrix", "devices", "iter.", "an iter.", "call",
                       "beside", "fresh", "beside", "update", "step", "");
}

std::string calls_table_lines(const json& row) {
    const auto number = [&](const char* key) {
        return fmt::format("{:.1f}", row.at(key).get<double>());
    };
    const auto median = [&](const char* key) {
        return fmt::format("{:.1f}", row.at(key).at("median").get<double>());
    };
    std::string lines = fmt::format(
        fmt::runtime(calls_line), row.at("matrix").get<std::string>(), row.at("devices").get<int>(),
        row.at("iterations").get<std::int64_t>(), median("us_per_iteration"), median("us_call"),
        number("us_beside_iterations"), median("us_call_fresh"),
        number("us_beside_iterations_fresh"), median("us_update"), number("us_step"),
        row.at("void_because").empty() ? "" : "  VOID");
    for (const json& why : row.at("void_because"))
        lines += fmt::format("    void: {}\n", why.get<std::string>());
    return lines;
}

} // namespace krylith::bench
