// krylith bench NAME MATRIX...
#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/config.hpp>
#include <krylith/tools/bench/bench_run.hpp>
#include <krylith/tools/cli/choices.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/solve/solver_registry.hpp>

namespace krylith::tool {

namespace {

using json = nlohmann::ordered_json;

struct bench_job {
    bench_request request;
    std::vector<std::string> matrices;
    std::string counts;
    std::string report;
};

json as_json(const bench_request& request, const bench_row& row) {
    json out = {{"matrix", request.matrix},
                {"devices", row.devices},
                {"operator", row.operator_name},
                {"format", row.format_name},
                {"median_seconds", row.median_seconds},
                {"p10_seconds", row.p10_seconds},
                {"p90_seconds", row.p90_seconds},
                {"bytes", row.bytes},
                {"gigabytes_per_second", row.bytes / row.median_seconds * 1e-9}};
    if (request.what == "spmv") return out;
    out["rtol"] = row.rtol;
    out["solve_iterations"] = row.solve_iterations;
    out["solve_seconds"] = row.solve_seconds;
    out["relative_true_residual"] = row.relative_true_residual;
    out["converged"] = row.converged;
    out["same_bits_twice"] = row.repeats;
    return out;
}

void print_rows(const bench_request& request, const std::vector<bench_row>& rows, std::FILE* out) {
    const bool solver = request.what != "spmv";
    print(out, fmt::format("{} on {}{}, {}\n{:>8} {:>9} {:>7} {:>10} {:>10} {:>10} {:>9} {:>8}",
                           request.what, one_line(request.matrix), request.spd ? " made spd" : "",
                           request.multiply.precision, "devices", "operator", "format", "median us",
                           "p10", "p90", "GB/s", "speed-up"));
    if (solver)
        print(out, fmt::format(" {:>11} {:>10} {:>10} {:>9}", "iterations", "seconds", "residual",
                               "same bits"));
    print(out, fmt::format("\n"));
    for (const bench_row& row : rows) {
        print(out, fmt::format("{:>8} {:>9} {:>7} {:>10.2f} {:>10.2f} {:>10.2f} {:>9.1f} {:>7.2f}x",
                               row.devices, row.operator_name, row.format_name,
                               1e6 * row.median_seconds, 1e6 * row.p10_seconds,
                               1e6 * row.p90_seconds, row.bytes / row.median_seconds * 1e-9,
                               rows.front().median_seconds / row.median_seconds));
        if (solver)
            print(out, fmt::format(" {:>11} {:>10.4f} {:>10.2e} {:>9}", row.solve_iterations,
                                   row.solve_seconds, row.relative_true_residual,
                                   row.repeats ? "yes" : "NO"));
        print(out, fmt::format("\n"));
    }
}

exit_status run_bench_job(bench_job job) {
    for (const std::string& matrix : job.matrices)
        check_outputs({{"--report", job.report}}, {{"MATRIX", matrix}});
    bench_request& request = job.request;
    request.counts = job.counts.empty() ? default_counts(request.devices)
                                        : parse_counts("--device-counts", job.counts);
    json report = {{"version", KRYLITH_VERSION},
                   {"benchmark", request.what},
                   {"spd", request.spd},
                   {"precision", request.multiply.precision},
                   {"preconditioner", request.preconditioner},
                   {"warm_up", request.warm_up},
                   {"iterations", request.iterations},
                   {"repetitions", request.repetitions},
                   {"devices", descriptions(first_devices(
                                   request.devices, *std::ranges::max_element(request.counts)))},
                   {"rows", json::array()}};
    bool valid = true;
    for (const std::string& matrix : job.matrices) {
        request.matrix = matrix;
        const std::vector<bench_row> rows = request.multiply.single_precision()
                                                ? run_bench<float>(request)
                                                : run_bench<double>(request);
        print_rows(request, rows, job.report == "-" ? stderr : stdout);
        for (const bench_row& row : rows) {
            report["rows"].push_back(as_json(request, row));
            valid = valid && (request.what == "spmv" || (row.converged && row.repeats));
        }
    }
    if (!job.report.empty())
        write_text(job.report, report.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    return valid ? exit_status::success : exit_status::not_converged;
}

} // namespace

command add_bench(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand(
        "bench", "Time an iteration of a solver, or a product, over numbers of devices");
    auto job = std::make_shared<bench_job>();
    bench_request& request = job->request;
    const auto add = [&](const char* name, auto& value, const std::string& type, const char* help) {
        return app->add_option(name, value, help)->type_name(type);
    };
    add("NAME", request.what, "spmv|" + alternatives(solver_names()), "A solver, or spmv")
        ->required();
    add("MATRIX", job->matrices, "", "Matrix Market files, or gallery:NAME[:ARGUMENT...]")
        ->required();
    add_spd(*app, request.spd);
    add("--precond", request.preconditioner, alternatives(preconditioner_names()), "For solvers")
        ->capture_default_str();
    add("--device-counts", job->counts, "LIST", "Numbers of devices [1,2,4 ... all of them]");
    add("--warm-up", request.warm_up, "K",
        "Iterations before those that are timed; best multiples of 16, both")
        ->capture_default_str();
    add("--iterations", request.iterations, "K", "Iterations, or products, that are timed")
        ->capture_default_str();
    add("--repetitions", request.repetitions, "N", "Measurements; the median is given")
        ->capture_default_str();
    add_operator_options(*app, request.multiply);
    add_backend_options(*app, request.devices);
    add_transports(*app, request.multiply);
    add_timeout(*app, request.devices);
    add_report(*app, job->report);
    return {app, [job] { return run_bench_job(*job); }};
}

} // namespace krylith::tool
