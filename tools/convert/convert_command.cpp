// krylith convert MATRIX OUTPUT
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/conversions.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

namespace {

struct convert_job {
    std::string matrix;
    std::string output;
    std::string precision = "fp64";
    bool spd = false;
    bool transposed = false;
    bool vector = false;
    bool quiet = false;

    [[nodiscard]] file_content content() const {
        return vector ? file_content::vector : file_content::matrix;
    }
};

void check_output(const convert_job& job) {
    if (format_to_write(job.output, job.content()) == nullptr)
        throw usage_error("OUTPUT is '" + job.output + "': its name must end in " +
                          written_endings(job.content()) + ", which says the format");
    if (job.vector && (job.spd || job.transposed))
        throw usage_error(fmt::format("{} is for matrices, --vector is for vectors: allowed is one "
                                      "of them",
                                      job.spd ? "--spd" : "--transpose"));
    check_outputs({{"OUTPUT", job.output}}, {{"MATRIX", job.matrix}});
}

void print_output(const convert_job& job, double seconds) {
    std::error_code pipe; // which has no size
    const auto bytes = std::filesystem::file_size(job.output, pipe);
    print(stdout,
          fmt::format("output      {}: {}, {}written in {}\n", one_line(job.output), job.precision,
                      pipe ? "" : in_bytes(static_cast<double>(bytes)) + ", ",
                      in_seconds(seconds)));
}

template <class T>
exit_status convert_vector(const convert_job& job) {
    stopwatch watch;
    const dense_columns<T> vectors = load_columns<T>(job.matrix);
    const double read_seconds = watch.lap();
    save_columns<T>(job.output, vectors, "krylith convert " + job.matrix);
    const double write_seconds = watch.lap();
    if (job.quiet) return exit_status::success;
    print(stdout, fmt::format("{:<12}{}: {}{} entries, read in {}\n",
                              vectors.columns == 1 ? "vector" : "vectors", one_line(job.matrix),
                              vectors.columns == 1 ? "" : fmt::format("{} of ", vectors.columns),
                              vectors.rows, in_seconds(read_seconds)));
    print_output(job, write_seconds);
    return exit_status::success;
}

template <class T>
exit_status convert(const convert_job& job) {
    if (job.vector) return convert_vector<T>(job);
    stopwatch watch;
    file_report file;
    csr_matrix<T> matrix = job.spd ? load_square<T>(job.matrix, true, &file)
                                   : load_matrix<T>(job.matrix, {.report = &file});
    const double read_seconds = watch.lap();
    if (job.transposed) matrix = transpose(matrix);
    save_matrix(job.output, matrix, "krylith convert " + job.matrix);
    const double write_seconds = watch.lap();
    if (job.quiet) return exit_status::success;
    print(stdout, fmt::format("matrix      {}{}: {} x {}, {} nonzeros, read in {}\n",
                              one_line(job.matrix), job.transposed ? " transposed" : "",
                              matrix.rows, matrix.columns, matrix.nnz(), in_seconds(read_seconds)));
    if (!file.layout.empty()) print(stdout, fmt::format("file        {}\n", in_words(file)));
    print_output(job, write_seconds);
    return exit_status::success;
}

exit_status run_convert_job(const convert_job& job) {
    check_precision(job.precision);
    check_output(job);
    return job.precision == "fp32" ? convert<float>(job) : convert<double>(job);
}

} // namespace

command add_convert(CLI::App& parent) {
    CLI::App* app =
        parent.add_subcommand("convert", "Write a matrix or a vector in another format");
    auto job = std::make_shared<convert_job>();
    add_matrix(*app, job->matrix);
    add_spd(*app, job->spd);
    app->add_flag("--transpose", job->transposed, "Write A'");
    app->add_option("OUTPUT", job->output,
                    "File to write, replaced if it exists: its name ends in " +
                        written_endings(file_content::matrix) +
                        "; .kcsr loads at the speed of memory")
        ->required()
        ->type_name("");
    app->add_option("--precision", job->precision, "Of the values that are written")
        ->type_name(alternatives(precision_names))
        ->capture_default_str();
    app->add_flag("--vector", job->vector,
                  "MATRIX is a vector, and so is OUTPUT: its name ends in " +
                      written_endings(file_content::vector));
    app->add_flag("--quiet", job->quiet, "No summary; the exit status tells");
    return {app, [job] { return run_convert_job(*job); }};
}

} // namespace krylith::tool
