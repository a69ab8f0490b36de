// krylith multiply A B OUTPUT, krylith add A B OUTPUT
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

struct arithmetic_job {
    bool sum = false; ///< alpha A + beta B, else A B
    double alpha = 1;
    double beta = 1;
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

struct arithmetic_outcome {
    matrix_size a;
    matrix_size b;
    matrix_size c;
    std::vector<std::string> devices;
    backend kind;
    double load_seconds;
    double setup_seconds;
    double seconds; ///< of pattern and values of the result
    double write_seconds;
};

template <class T>
void check_sizes(const arithmetic_job& job, const csr_matrix<T>& a, const csr_matrix<T>& b) {
    if (!job.sum && a.columns != b.rows)
        throw input_error(fmt::format("{} has {} columns and {} has {} rows: A B needs as many of "
                                      "the one as of the other",
                                      job.a, a.columns, job.b, b.rows));
    if (job.sum && (a.rows != b.rows || a.columns != b.columns))
        throw input_error(
            fmt::format("{} is {} x {} and {} is {} x {}: a sum is of matrices of one "
                        "size",
                        job.a, a.rows, a.columns, job.b, b.rows, b.columns));
}

/// Brings it to the devices, with columns that ascend in each row.
template <class T>
distributed_csr<T> distribute(const device_group& group, const csr_matrix<T>& m,
                              const row_partition& rows, const row_partition& columns) {
    distributed_csr<T> result(group, csr_view<T>(m), rows, columns);
    return result.rows_ascend() ? std::move(result) : sorted_rows<T>(result).apply(result);
}

template <class T>
arithmetic_outcome compute_files(const arithmetic_job& job) {
    const device_group group = select_devices(job.devices);
    stopwatch watch;
    const csr_matrix<T> a = load_matrix<T>(job.a);
    const bool same = job.b == job.a; // which need not be loaded twice
    const csr_matrix<T> other = same ? csr_matrix<T>() : load_matrix<T>(job.b);
    const csr_matrix<T>& b = same ? a : other;
    check_sizes(job, a, b);
    const double load_seconds = watch.lap();
    const row_partition rows = equal_nonzeros(a.row_offsets, group.size());
    const row_partition columns = equal_rows(b.columns, group.size());
    const row_partition inner = equal_nonzeros(b.row_offsets, group.size());
    const distributed_csr<T> left = distribute(group, a, rows, job.sum ? columns : inner);
    const distributed_csr<T> right = distribute(group, b, job.sum ? rows : inner, columns);
    group.synchronize();
    const double setup_seconds = watch.lap();
    distributed_csr<T> result;
    if (job.sum)
        result = add(static_cast<T>(job.alpha), left, static_cast<T>(job.beta), right);
    else
        (void)distributed_spgemm<T>(left, right, result);
    group.synchronize();
    const double seconds = watch.lap();
    const csr_matrix<T> c = result.download();
    save_matrix(job.output, c,
                fmt::format("krylith {} {} {}", job.sum ? "add" : "multiply", job.a, job.b));
    return {matrix_size(a), matrix_size(b), matrix_size(c), descriptions(group), group.kind(),
            load_seconds,   setup_seconds,  seconds,        watch.lap()};
}

std::string json_report(const arithmetic_job& job, const arithmetic_outcome& o) {
    const auto matrix = [](const std::string& name, const matrix_size& m) -> json {
        return {{"name", name}, {"rows", m.rows}, {"columns", m.columns}, {"nnz", m.nnz}};
    };
    json report = {{"schema_version", report_schema},
                   {"version", KRYLITH_VERSION},
                   {"a", matrix(job.a, o.a)},
                   {"b", matrix(job.b, o.b)},
                   {job.sum ? "sum" : "product", matrix(job.output, o.c)},
                   {"precision", job.precision},
                   {"backend", to_string(o.kind)},
                   {"devices", o.devices},
                   {"load_seconds", o.load_seconds},
                   {"setup_seconds", o.setup_seconds},
                   {"seconds", o.seconds},
                   {"write_seconds", o.write_seconds}};
    if (job.sum) {
        report["alpha"] = job.alpha;
        report["beta"] = job.beta;
    }
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string summary(const arithmetic_job& job, const arithmetic_outcome& o) {
    const auto matrix = [](const char* name, const std::string& file, const matrix_size& m) {
        return named_line(name,
                          fmt::format("{}: {} x {}, {} nonzeros", file, m.rows, m.columns, m.nnz));
    };
    return matrix("A", job.a, o.a) + matrix("B", job.b, o.b) +
           matrix(job.sum ? "sum" : "A B", job.output, o.c) +
           named_line("devices", fmt::format("{}: {}, {}", o.devices.size(),
                                             fmt::join(o.devices, "; "), job.precision)) +
           named_line("time",
                      fmt::format("{}, besides reading {}, bringing to the devices {}, "
                                  "writing {}",
                                  in_seconds(o.seconds), in_seconds(o.load_seconds),
                                  in_seconds(o.setup_seconds), in_seconds(o.write_seconds)));
}

exit_status run_arithmetic_job(const arithmetic_job& job) {
    check_precision(job.precision);
    if (format_to_write(job.output, file_content::matrix) == nullptr)
        throw usage_error("OUTPUT is '" + job.output + "': its name must end in " +
                          written_endings(file_content::matrix) + ", which says the format");
    const double largest = job.precision == "fp32" ? std::numeric_limits<float>::max()
                                                   : std::numeric_limits<double>::max();
    if (!(std::fabs(job.alpha) <= largest) || !(std::fabs(job.beta) <= largest))
        throw usage_error(fmt::format("--alpha is {}, --beta is {}: allowed are finite numbers of "
                                      "{}",
                                      job.alpha, job.beta, job.precision));
    check_outputs({{"OUTPUT", job.output}, {"--report", job.report, {".json"}}},
                  {{"A", job.a}, {"B", job.b}});
    const arithmetic_outcome outcome =
        job.precision == "fp32" ? compute_files<float>(job) : compute_files<double>(job);
    if (!job.report.empty()) write_text(job.report, json_report(job, outcome));
    if (!job.quiet) print(job.report == "-" ? stderr : stdout, summary(job, outcome));
    return exit_status::success;
}

command add_arithmetic(CLI::App* app, bool sum) {
    auto job = std::make_shared<arithmetic_job>();
    job->sum = sum;
    add_matrix(*app, job->a, "A");
    add_matrix(*app, job->b, "B");
    app->add_option("OUTPUT", job->output,
                    "File to write, replaced if it exists: its name ends in " +
                        written_endings(file_content::matrix) +
                        ". An entry that happens to be 0 is written too")
        ->required()
        ->type_name("");
    if (sum) {
        app->add_option("--alpha", job->alpha, "Factor of A")
            ->type_name("A")
            ->capture_default_str();
        app->add_option("--beta", job->beta, "Factor of B")->type_name("B")->capture_default_str();
    }
    app->add_option("--precision", job->precision, "Of the values, and of the sums")
        ->type_name(alternatives(precision_names))
        ->capture_default_str();
    add_device_options(*app, job->devices);
    add_report(*app, job->report);
    app->add_flag("--quiet", job->quiet, "No summary; the exit status tells")->group("Output");
    return {app, [job] { return run_arithmetic_job(*job); }};
}

} // namespace

command add_multiply(CLI::App& parent) {
    return add_arithmetic(
        parent.add_subcommand("multiply", "Write the sparse product A B to a file"), false);
}

command add_add(CLI::App& parent) {
    return add_arithmetic(
        parent.add_subcommand("add", "Write the sum alpha A + beta B of sparse matrices to a file"),
        true);
}

} // namespace krylith::tool
