#include <krylith/bench/common/shared_options.hpp>

#include <CLI/CLI.hpp>

#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/output_file.hpp>

namespace krylith::bench {

template <class T>
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<T>& values,
                      const std::string& help) {
    return app.add_option(name, values, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("LIST");
}

template CLI::Option* add_list(CLI::App&, const char*, std::vector<std::string>&,
                               const std::string&);
template CLI::Option* add_list(CLI::App&, const char*, std::vector<double>&, const std::string&);
template CLI::Option* add_list(CLI::App&, const char*, std::vector<int>&, const std::string&);

void add_matrices(CLI::App& app, std::vector<std::string>& matrices, const std::string& without) {
    app.add_option("MATRIX", matrices,
                   "Matrix Market files, .kcsr files, or gallery:NAME[:ARGUMENT...]; without: " +
                       without)
        ->type_name("");
}

void add_backend(CLI::App& app, tool::device_options& options) {
    app.add_option("--backend", options.backend,
                   "Kind of the devices; auto is cuda where there is one")
        ->type_name(tool::alternatives(tool::backend_names))
        ->capture_default_str()
        ->group("Devices");
    app.add_option("--threads", options.threads,
                   "Threads of all host devices together; 0: one a core")
        ->type_name("N")
        ->capture_default_str()
        ->group("Devices");
}

void add_device_counts(CLI::App& app, std::vector<int>& counts, const std::string& without) {
    app.add_option_function<std::string>(
           "--device-counts",
           [&counts](const std::string& text) {
               counts = tool::parse_counts("--device-counts", text);
           },
           "Numbers of devices [" + without + "]")
        ->type_name("LIST")
        ->group("Devices");
}

void add_effort(CLI::App& app, slope_effort& effort) {
    const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
        app.add_option(name, value, help)
            ->type_name(type)
            ->capture_default_str()
            ->group("Measurement");
    };
    add("--warm-up", effort.warm_up, "K",
        "Iterations, or products, of a short run, which is subtracted from a longer one: what runs "
        "cost once drops out");
    add("--iterations", effort.iterations, "K",
        "Iterations that the longer run has more; up to 40 are recorded at once, as many as divide "
        "both "
        "numbers");
    add("--repetitions", effort.repetitions, "N",
        "Repetitions of both runs, at least; the median is given");
    add("--seconds", effort.seconds, "SECONDS",
        "Repeat the runs until they have taken so long, 40 times at most");
    add("--warm-up-seconds", effort.warm_up_seconds, "SECONDS", "Time of runs before these");
}

void add_execution(CLI::App& app, std::string& execution) {
    app.add_option("--execution", execution,
                   "Recorded: the devices repeat iterations by themselves; eager: the host "
                   "enqueues each; auto: recorded where the devices can")
        ->type_name(tool::alternatives(tool::execution_names))
        ->capture_default_str();
}

void add_limits(CLI::App& app, double& limit, bool& without) {
    app.add_option("--limit", limit,
                   "What the memory of a device can do, TB/s; 0: by the data sheet of a GPU that "
                   "is known, else measured")
        ->type_name("TB/S")
        ->capture_default_str()
        ->group("Measurement");
    app.add_flag("--no-limits", without,
                 "Without the rate of the memory and how near to limits results are, which takes "
                 "seconds, and 2 GiB of the host's memory")
        ->group("Measurement");
}

void add_csv(CLI::App& app, std::string& path) {
    app.add_option("--csv", path, "A line a case")->type_name("FILE.csv")->group("Output");
}

execution_mode execution_named(const std::string& name) {
    return tool::by_name<execution_mode>("execution", name, tool::execution_names);
}

void check_files(const std::string& report, const std::string& csv,
                 const std::vector<std::string>& matrices,
                 const std::vector<std::string>& report_endings) {
    const std::vector<tool::named_file> outputs = {{"--report", report, report_endings},
                                                   {"--csv", csv, {".csv"}}};
    std::vector<tool::named_file> inputs;
    for (const std::string& matrix : matrices) inputs.push_back({"MATRIX", matrix});
    tool::check_outputs(outputs, inputs);
}

} // namespace krylith::bench
