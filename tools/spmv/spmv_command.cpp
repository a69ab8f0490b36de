// krylith spmv MATRIX
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/spmv/tuning/timed_trips.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/cli/vector_source.hpp>
#include <krylith/tools/solve/operator_report.hpp>
#include <krylith/tools/spmv/spmv_run.hpp>

#if KRYLITH_HAVE_SPMSPV
#include <krylith/tools/spmv/sparse_product.hpp>
#endif

namespace krylith::tool {

namespace {

struct spmv_job {
    spmv_request request;
    std::string report;
    bool quiet = false;
    std::string sparse;              ///< x, where it is sparse
    std::string kernel = "adaptive"; ///< of --sparse
};

std::string json_report(const spmv_request& request, const spmv_outcome& o) {
    const json report = {
        {"schema_version", report_schema},
        {"version", KRYLITH_VERSION},
        {"matrix",
         {{"name", request.matrix}, {"rows", o.rows}, {"columns", o.columns}, {"nnz", o.nnz}}},
        {"operator", o.operator_name},
        {"operator_because", o.operator_because},
        {"operator_fractions", as_json(o.fractions)},
        {"transport", o.transport},
        {"transport_because", o.transport_because},
        {"format", o.format_name},
        {"narrow_fraction", o.narrow_fraction},
        {"reordering", as_json(o.reordered)},
        {"backend", to_string(o.kind)},
        {"devices", o.devices},
        {"spd", request.spd},
        {"transpose", request.transpose},
        {"precision", request.multiply.precision},
        {"execution", o.recorded ? "recorded" : "eager"},
        {"x", request.x},
        {"alpha", request.alpha},
        {"beta", request.beta},
        {"repeat", whole_recordings(request.repeat)},
        {"load_seconds", o.load_seconds},
        {"setup_seconds", o.setup_seconds},
        {"seconds", o.seconds},
        {"bytes", o.bytes},
        {"gigabytes_per_second", o.bytes / o.seconds * 1e-9},
        {"received_entries", o.received},
        {"matrix_bytes", o.matrix_bytes},
        {"largest_difference", o.largest_difference},
        {"relative_difference", o.relative_difference},
        {"agrees", o.agrees},
        {"warnings", o.warnings}};
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string summary(const spmv_request& request, const spmv_outcome& o) {
    std::string text;
    const auto line = [&](const char* name, const std::string& content) {
        text += named_line(name, content);
    };
    text += matrix_line(request, o);
    line("devices", fmt::format("{}: {}", o.devices.size(), fmt::join(o.devices, "; ")));
    line("operator", fmt::format("{} ({}), format {}, {}", o.operator_name, o.operator_because,
                                 format_in_words(o.format_name, o.narrow_fraction),
                                 request.multiply.precision));
    if (o.reordered.order) line("order", in_words(o.reordered));
    if (o.devices.size() > 1)
        line("transport", fmt::format("{} ({})", o.transport, o.transport_because));
    line("time", fmt::format("{} a product ({} of them, {}), {:.4g} GB/s by the byte model of {}",
                             in_seconds(o.seconds), whole_recordings(request.repeat),
                             o.recorded ? "recorded" : "eager", o.bytes / o.seconds * 1e-9,
                             in_bytes(o.bytes)));
    text += difference_line(o);
    for (const std::string& warning : o.warnings) line("warning", warning);
    return text;
}

#if KRYLITH_HAVE_SPMSPV

void add_sparse_options(CLI::App& app, spmv_job& job) {
    app.add_option("--sparse", job.sparse,
                   "Instead of --x, a sparse x: a matrix of one column (Matrix Market: of n rows, "
                   "coordinate, also pattern), or ones at these places, counted from 1; one device "
                   "computes y = alpha A x")
        ->type_name(sparse_vector_forms);
    app.add_option("--kernel", job.kernel,
                   "Of --sparse: chosen for each product (adaptive), or always the same")
        ->type_name(kernel_choices())
        ->capture_default_str();
}

/// y = alpha A x with a sparse x.
exit_status run_sparse_job(const CLI::App& given, const spmv_job& job) {
    for (const std::string option :
         {"--x", "--y", "--beta", "--operator", "--format", "--reorder", "--long-fraction",
          "--redundant-fraction", "--transport", "--timeout"})
        if (given.count(option) != 0)
            throw usage_error(option + " is not for --sparse, which computes y = alpha A x on one "
                                       "device without an operator");
    const std::string& output = job.request.output_file;
    if (!output.empty() && format_to_write(output, file_content::matrix) == nullptr)
        throw usage_error("--output is '" + output + "': with --sparse its name must end in " +
                          written_endings(file_content::matrix) + ", which says the format");
    check_outputs({{"--output", output}, {"--report", job.report, {".json"}}},
                  {{"MATRIX", job.request.matrix}, {"--sparse", sparse_vector_path(job.sparse)}});
    const sparse_product_outcome outcome =
        job.request.multiply.single_precision()
            ? run_sparse_product<float>(job.request, job.sparse, job.kernel)
            : run_sparse_product<double>(job.request, job.sparse, job.kernel);
    if (!job.report.empty()) write_text(job.report, json_report(job.request, job.sparse, outcome));
    if (!job.quiet)
        print(job.report == "-" ? stderr : stdout, summary(job.request, job.sparse, outcome));
    return outcome.agrees ? exit_status::success : exit_status::not_converged;
}

#else

void add_sparse_options(CLI::App& app, spmv_job& job) {
    for (const char* name : {"--sparse", "--kernel"})
        app.add_option(name, job.sparse, "Not in this krylith (KRYLITH_SPMSPV=OFF)");
}

exit_status run_sparse_job(const CLI::App&, const spmv_job&) {
    throw usage_error("this krylith was built without products with sparse vectors "
                      "(KRYLITH_SPMSPV=OFF): build it with KRYLITH_SPMSPV=ON");
}

#endif

exit_status run_spmv_job(const CLI::App& given, const spmv_job& job) {
    if (given.count("--sparse") != 0) return run_sparse_job(given, job);
    if (given.count("--kernel") != 0)
        throw usage_error("--kernel is for products with a sparse x: --sparse names it");
    check_outputs(
        {vector_output("--output", job.request.output_file), {"--report", job.report, {".json"}}},
        {{"MATRIX", job.request.matrix},
         {"--x", parse_vector_source("--x", job.request.x).path},
         {"--y", parse_vector_source("--y", job.request.y).path}});
    const spmv_outcome outcome = job.request.multiply.single_precision()
                                     ? run_spmv<float>(job.request)
                                     : run_spmv<double>(job.request);
    if (!job.report.empty()) write_text(job.report, json_report(job.request, outcome));
    if (!job.quiet) print(job.report == "-" ? stderr : stdout, summary(job.request, outcome));
    return outcome.agrees ? exit_status::success : exit_status::not_converged;
}

} // namespace

command add_spmv(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand(
        "spmv", "Compute y = alpha A x + beta y, also for a sparse x, compare it with a plain loop "
                "and time it");
    auto job = std::make_shared<spmv_job>();
    spmv_request& request = job->request;
    const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
        return app->add_option(name, value, help)->type_name(type);
    };
    add_matrix(*app, request.matrix);
    add_spd(*app, request.spd);
    app->add_flag("--transpose", request.transpose,
                  "Compute y = alpha A' x + beta y; the devices keep A and A'");
    add("--x", request.x, vector_source_forms,
        "x; row-sums is A times ones, range:SEED A times random:SEED")
        ->capture_default_str();
    add_sparse_options(*app, *job);
    add("--y", request.y, vector_source_forms, "y, read only if beta is not 0")
        ->capture_default_str();
    add("--alpha", request.alpha, "A", "Factor of A x")->capture_default_str();
    add("--beta", request.beta, "B", "Factor of y")->capture_default_str();
    add("--repeat", request.repeat, "N",
        "Products that are timed, after a warm-up; rounded up to a multiple of 16")
        ->capture_default_str();
    add_operator_options(*app, request.multiply);
    add_device_options(*app, request.devices);
    add_transports(*app, request.multiply);
    add_timeout(*app, request.devices);
    add("--output", request.output_file, "FILE",
        (vector_output_help("The result") +
         ". With --sparse its entries, as a matrix of one column: " +
         written_endings(file_content::matrix))
            .c_str())
        ->group("Output");
    add_report(*app, job->report);
    app->add_flag("--quiet", job->quiet, "No summary; status 1 says that the result is wrong")
        ->group("Output");
    return {app, [app, job] { return run_spmv_job(*app, *job); }};
}

} // namespace krylith::tool
