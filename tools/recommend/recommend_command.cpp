// krylith recommend MATRIX
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/near_null.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/recommend/recommend_run.hpp>

namespace krylith::tool {

namespace {

struct recommend_job {
    recommend_request request;
    std::string counts;
    std::string report;
    std::string plot;
    bool quiet = false;
};

/// Host devices share the cores, so that more of them gain nothing.
std::vector<int> usual_counts(const device_options& devices) {
    return select_backend(devices) == backend::host ? std::vector<int>{1} : default_counts(devices);
}

exit_status run_recommend_job(recommend_job job) {
    check_outputs({{"--report", job.report, {".json"}}, {"--plot", job.plot, {".svg"}}},
                  {{"MATRIX", job.request.solve.matrix},
                   {"--rhs", parse_vector_source("--rhs", job.request.solve.rhs).path}});
    job.request.counts = job.counts.empty() ? usual_counts(job.request.solve.devices)
                                            : parse_counts("--device-counts", job.counts);
    const recommendation r = recommend(job.request);
    if (!job.plot.empty()) write_text(job.plot, plot(job.request, r));
    if (!job.report.empty()) write_text(job.report, json_report(job.request, r));
    if (!job.quiet)
        print(job.report == "-" || job.plot == "-" ? stderr : stdout, summary(job.request, r));
    return r.found() ? exit_status::success : exit_status::not_converged;
}

} // namespace

command add_recommend(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand(
        "recommend", "Try the methods that suit a matrix; print the command line to use");
    auto job = std::make_shared<recommend_job>();
    solve_request& solve = job->request.solve;
    add_matrix(*app, solve.matrix);
    add_spd(*app, solve.spd);
    const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
        return app->add_option(name, value, help)->type_name(type);
    };
    add("--rhs", solve.rhs, vector_source_forms, "Right-hand side, as for solve")
        ->capture_default_str();
    add("--coordinates", solve.coordinates, coordinates_forms, "As for solve, for precond amg");
    add_rtol(*app, solve.options.rtol, true);
    add("--atol", solve.options.atol, "ATOL", "See --rtol")->capture_default_str();
    add("--seconds", job->request.seconds, "S",
        "For all trials together; more if even a few iterations of each take longer")
        ->capture_default_str();
    add("--device-counts", job->counts, "LIST",
        "Numbers of devices to try, methods on the first [GPUs: 1,2,4 ... all; host: 1]");
    add_backend_options(*app, solve.devices);
    add_timeout(*app, solve.devices);
    add_report(*app, job->report);
    app->add_option("--plot", job->plot, "The convergence curves of all trials")
        ->type_name("FILE.svg")
        ->group("Output");
    app->add_flag("--quiet", job->quiet, "No summary; status 1 says that nothing converges")
        ->group("Output");
    return {app, [job] { return run_recommend_job(*job); }};
}

} // namespace krylith::tool
