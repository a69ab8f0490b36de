// krylith multiply A B OUTPUT
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

namespace {

struct multiply_job {
    std::string a;
    std::string b;
    std::string output;
    std::string precision = "fp64";
    device_options devices;
    std::string report;
    bool quiet = false;
};

struct matrix_size {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nnz = 0;

    template <class T>
    explicit matrix_size(const csr_matrix<T>& m) : rows(m.rows), columns(m.columns), nnz(m.nnz()) {}
};

struct multiply_outcome {
    matrix_size a;
    matrix_size b;
    matrix_size c;
    std::vector<std::string> devices;
    backend kind;
    double load_seconds;
    double setup_seconds;
    double seconds; ///< of pattern and values of C
    double write_seconds;
};

template <class T>
multiply_outcome multiply_files(const multiply_job& job) {
    const device_group group = select_devices(job.devices);
    stopwatch watch;
    const csr_matrix<T> a = load_matrix<T>(job.a);
    const bool square = job.b == job.a; // which need not be loaded twice
    const csr_matrix<T> other = square ? csr_matrix<T>() : load_matrix<T>(job.b);
    const csr_matrix<T>& b = square ? a : other;
    if (a.columns != b.rows)
        throw input_error(fmt::format("{} has {} columns and {} has {} rows: A B needs as many of "
                                      "the one as of the other",
                                      job.a, a.columns, job.b, b.rows));
    const double load_seconds = watch.lap();
    const auto inner = equal_nonzeros(b.row_offsets, group.size());
    const distributed_csr<T> left(group, csr_view<T>(a),
                                  equal_nonzeros(a.row_offsets, group.size()), inner);
    distributed_csr<T> right(group, csr_view<T>(b), inner, equal_rows(b.columns, group.size()));
    if (!right.rows_ascend()) right = sorted_rows<T>(right).apply(right);
    group.synchronize();
    const double setup_seconds = watch.lap();
    distributed_csr<T> product;
    const distributed_spgemm<T> plan(left, right, product);
    group.synchronize();
    const double seconds = watch.lap();
    const csr_matrix<T> c = product.download();
    save_matrix(job.output, c, "krylith multiply " + job.a + " " + job.b);
    return {matrix_size(a), matrix_size(b), matrix_size(c), descriptions(group), group.kind(),
            load_seconds,   setup_seconds,  seconds,        watch.lap()};
}

std::string json_report(const multiply_job& job, const multiply_outcome& o) {
    const auto matrix = [](const std::string& name, const matrix_size& m) -> json {
        return {{"name", name}, {"rows", m.rows}, {"columns", m.columns}, {"nnz", m.nnz}};
    };
    const json report = {{"schema_version", report_schema},
                         {"version", KRYLITH_VERSION},
                         {"a", matrix(job.a, o.a)},
                         {"b", matrix(job.b, o.b)},
                         {"product", matrix(job.output, o.c)},
                         {"precision", job.precision},
                         {"backend", to_string(o.kind)},
                         {"devices", o.devices},
                         {"load_seconds", o.load_seconds},
                         {"setup_seconds", o.setup_seconds},
                         {"seconds", o.seconds},
                         {"write_seconds", o.write_seconds}};
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string summary(const multiply_job& job, const multiply_outcome& o) {
    const auto matrix = [](const char* name, const std::string& file, const matrix_size& m) {
        return named_line(name,
                          fmt::format("{}: {} x {}, {} nonzeros", file, m.rows, m.columns, m.nnz));
    };
    return matrix("A", job.a, o.a) + matrix("B", job.b, o.b) + matrix("A B", job.output, o.c) +
           named_line("devices", fmt::format("{}: {}, {}", o.devices.size(),
                                             fmt::join(o.devices, "; "), job.precision)) +
           named_line("time",
                      fmt::format("{}, besides reading {}, bringing to the devices {}, "
                                  "writing {}",
                                  in_seconds(o.seconds), in_seconds(o.load_seconds),
                                  in_seconds(o.setup_seconds), in_seconds(o.write_seconds)));
}

exit_status run_multiply_job(const multiply_job& job) {
    check_precision(job.precision);
    if (format_to_write(job.output, file_content::matrix) == nullptr)
        throw usage_error("OUTPUT is '" + job.output + "': its name must end in " +
                          written_endings(file_content::matrix) + ", which says the format");
    check_outputs({{"OUTPUT", job.output}, {"--report", job.report, {".json"}}},
                  {{"A", job.a}, {"B", job.b}});
    const multiply_outcome outcome =
        job.precision == "fp32" ? multiply_files<float>(job) : multiply_files<double>(job);
    if (!job.report.empty()) write_text(job.report, json_report(job, outcome));
    if (!job.quiet) print(job.report == "-" ? stderr : stdout, summary(job, outcome));
    return exit_status::success;
}

} // namespace

command add_multiply(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand("multiply", "Write the sparse product A B to a file");
    auto job = std::make_shared<multiply_job>();
    add_matrix(*app, job->a, "A");
    add_matrix(*app, job->b, "B");
    app->add_option("OUTPUT", job->output,
                    "File to write, replaced if it exists: its name ends in " +
                        written_endings(file_content::matrix) +
                        ". An entry that happens to be 0 is written too")
        ->required()
        ->type_name("");
    app->add_option("--precision", job->precision, "Of the values, and of the sums")
        ->type_name(alternatives(precision_names))
        ->capture_default_str();
    add_device_options(*app, job->devices);
    add_report(*app, job->report);
    app->add_flag("--quiet", job->quiet, "No summary; the exit status tells")->group("Output");
    return {app, [job] { return run_multiply_job(*job); }};
}

} // namespace krylith::tool
