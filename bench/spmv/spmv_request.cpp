#include <krylith/bench/spmv/spmv_request.hpp>

#include <algorithm>
#include <array>

#include <CLI/CLI.hpp>

#include <krylith/spmv/replicated/replicated_plan.hpp>

namespace krylith::bench {

namespace {

constexpr std::array all_operators = {"nz",        "2nz",  "lra",  "lra-rc", "halo",
                                      "allgather", "pcsr", "pcsc", "pcoo"};

} // namespace

std::vector<spmv_case> spmv_request::cases(backend devices) const {
    std::vector<spmv_case> result;
    for (const std::string& name : matrices) {
        result.push_back(case_of_matrix(name));
    }
    if (!families.empty()) {
        const auto members = family_members(families, sizes);
        result.insert(result.end(), members.begin(), members.end());
    }
    if (!result.empty()) {
        return result;
    }
    std::vector<std::string> usual = {"gallery:poisson3d:128", "gallery:poisson3d_27point:96"};
    if (devices == backend::cuda) {
        usual = {"gallery:poisson3d:256", "gallery:poisson3d:400", "gallery:poisson3d:256:random=1",
                 "gallery:poisson3d_27point:256", "gallery:random_spd:4000000:17"};
    }
    std::ranges::transform(usual, std::back_inserter(result), case_of_matrix);
    return result;
}

std::vector<std::string> spmv_request::one_device_formats(backend devices) const {
    if (!formats.empty()) {
        return formats;
    }
    // auto is sell where rows need little padding, and where it isn't, sell is slow and large.
    return devices == backend::cuda ? std::vector<std::string>{"csr", "auto", "merge", "cusparse"}
                                    : std::vector<std::string>{"csr"};
}

std::vector<std::string> spmv_request::operator_list() const {
    std::vector<std::string> result;
    for (const std::string& name : operators) {
        if (name == "all") {
            result.insert(result.end(), all_operators.begin(), all_operators.end());
            continue;
        }
        (void)parse_operator_kind(name); // throws, naming the nearest
        result.push_back(name);
    }
    return result;
}

operator_options spmv_request::options_of(operator_kind kind, format_kind format) const {
    operator_options options{.kind = kind, .format = format};
    if (is_replicated(kind)) {
        options.transport = parse_transport_kind(transport);
    }
    if (kind == operator_kind::lra || kind == operator_kind::lra_rc) {
        options.long_fraction = long_fraction;
    }
    if (kind == operator_kind::lra_rc) {
        options.redundant_fraction = redundant_fraction;
    }
    return options;
}

void add_options(CLI::App& app, spmv_request& q) {
    const auto list = [&](const char* name, auto& values, const char* help) {
        return app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
    };
    app.add_option("MATRIX", q.matrices,
                   "gallery:NAME[:ARGUMENT...] or Matrix Market files; without (and without "
                   "--families): 7-point Poisson 256^3 and 400^3, 256^3 with random values, "
                   "27-point 256^3, random 4M x 17");
    app.add_flag("--families{all}", q.families,
                 "Families of the gallery, each in --sizes; --families=LIST: these of them");
    list("--sizes", q.sizes,
         "Of the families: tiny (0.5 M nonzeros), small (10 M), medium (60 M), large (300 M)")
        ->capture_default_str();
    app.add_option("--build-seconds", q.build_seconds,
                   "Members of families that take longer to generate are skipped")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--backend", q.backend_name, "auto, cuda or host")->capture_default_str();
    list("--devices", q.devices,
         "Device counts, beside one device, the baseline; without: 1 to all (host: 1)");
    app.add_option("--threads", q.threads, "Threads of all host devices; 0: one a core");
    list("--operator", q.operators,
         "On several devices: all, or a list of nz, 2nz, lra, lra-rc, halo, allgather, pcsr, pcsc, "
         "pcoo, auto")
        ->capture_default_str();
    list("--format", q.formats,
         "Of csr, sell, merge, cusparse, auto; without: on one device all that it has, on several "
         "the "
         "fastest of krylith's");
    app.add_option("--transport", q.transport,
                   "Of nz, 2nz, lra and lra-rc: auto, peer-store, copy-engine or nccl")
        ->capture_default_str();
    app.add_option("--long-fraction", q.long_fraction, "Of lra and lra-rc; without: the paper's");
    app.add_option("--redundant-fraction", q.redundant_fraction, "Of lra-rc; without: the paper's");
    app.add_option("--mode", q.mode, "auto (recorded where possible), recorded or eager")
        ->check(CLI::IsMember({"auto", "recorded", "eager"}))
        ->capture_default_str();
    app.add_flag("--no-dot", q.without_dot, "Without the times of products with dot(x, y)");
    app.add_option(
           "--target", q.target,
           "Speedup over one device: the summary lists where an operator's limit forbids it")
        ->capture_default_str();
    app.add_option("--few", q.effort.few,
                   "Products of the short run; up to 40 are recorded in one turn, as many as "
                   "divide both runs")
        ->capture_default_str();
    app.add_option("--many", q.effort.many, "And of the long one")->capture_default_str();
    app.add_option("--repetitions", q.effort.repetitions, "At least")->capture_default_str();
    app.add_option("--seconds", q.effort.seconds, "And until it has run this long")
        ->capture_default_str();
    app.add_option("--warm-up", q.effort.warm_up, "Seconds before each measurement")
        ->capture_default_str();
    app.add_option("--limit", q.limit,
                   "Memory's limit, TB/s a device; without: by the data sheet, or measured");
    app.add_option("--json", q.json_file, "Everything as JSON");
    app.add_option("--csv", q.csv_file, "One line a case");
}

} // namespace krylith::bench
