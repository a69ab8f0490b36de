// krylith info MATRIX
#include <algorithm>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/tools/info/info_run.hpp>
#include <krylith/tools/report/sparsity.hpp>

namespace krylith::tool {

namespace {

struct info_job {
    std::string matrix;
    std::string counts = "1,2,4";
    std::string report;
    std::string plot;
    bool spd = false;
    bool quiet = false;
    bool picture = true;
};

/// Above the summary there should be room for it too.
terminal picture_size() {
    terminal size = standard_output();
    size.columns = std::min(size.columns, 100);
    size.lines = std::max(8, std::min(size.lines - 2, size.columns / 2 + 2));
    return size;
}

void write_plot(const info_job& job, const csr_matrix<double>& matrix) {
    const density cells = measure_density(csr_view<double>(matrix), plot_cells, plot_cells);
    write_text(job.plot, svg(cells, fmt::format("{}: {} x {}, {} nonzeros",
                                                job.matrix.substr(job.matrix.rfind('/') + 1),
                                                matrix.rows, matrix.columns, matrix.nnz())));
}

exit_status run_info_job(const info_job& job) {
    check_outputs({{"--report", job.report, {".json"}}, {"--plot", job.plot, {".svg"}}},
                  {{"MATRIX", job.matrix}});
    const std::vector<int> counts = parse_counts("--device-counts", job.counts);
    stopwatch watch;
    file_report file;
    const csr_matrix<double> matrix = job.spd ? load_square<double>(job.matrix, true, &file)
                                              : load_matrix<double>(job.matrix, {.report = &file});
    const double load_seconds = watch.lap();
    matrix_info info = inspect(job.matrix, matrix, counts);
    info.file = file;
    info.load_seconds = load_seconds;
    if (!job.plot.empty()) write_plot(job, matrix);
    if (!job.report.empty()) write_text(job.report, json_report(info));
    if (job.quiet) return exit_status::success;
    std::FILE* const out = job.report == "-" || job.plot == "-" ? stderr : stdout;
    print(out, summary(info));
    if (job.picture) print(out, "\n" + sparsity_picture(csr_view<double>(matrix), picture_size()));
    return exit_status::success;
}

} // namespace

command add_info(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand(
        "info", "What kind of matrix it is, what it takes on devices, where its entries lie");
    auto job = std::make_shared<info_job>();
    add_matrix(*app, job->matrix);
    add_spd(*app, job->spd);
    app->add_option("--device-counts", job->counts, "Numbers of devices to work out bytes for")
        ->type_name("LIST")
        ->capture_default_str();
    add_report(*app, job->report);
    app->add_option("--plot", job->plot, "A picture of the entries")
        ->type_name("FILE.svg")
        ->group("Output");
    app->add_flag("!--no-picture", job->picture, "No picture in the terminal")->group("Output");
    app->add_flag("--quiet", job->quiet, "Neither summary nor picture")->group("Output");
    return {app, [job] { return run_info_job(*job); }};
}

} // namespace krylith::tool
