#include <krylith/bench/spmv/spmv_request.hpp>

#include <algorithm>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/device/error.hpp>
#include <krylith/spmv/replicated/replicated_plan.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

/// "nz, 2nz, halo".
std::string names_with_commas(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) (text += text.empty() ? "" : ", ") += name;
    return text;
}

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
    // The format auto is sell where rows need little padding; where it isn't, sell is slow and
    // large.
    std::vector<std::string> result;
    for (const format_kind format : formats::all) {
        if (devices == backend::cuda ? format->on_cuda.get() : format->on_host.get()) {
            result.emplace_back(format == formats::sell ? "auto" : to_string(format));
        }
    }
    return result;
}

std::vector<std::string> spmv_request::operator_list() const {
    std::vector<std::string> result;
    for (const std::string& name : operators) {
        if (name == "all") {
            for (const operator_kind kind : operators::all) {
                if (kind->compared) {
                    result.emplace_back(to_string(kind));
                }
            }
            continue;
        }
        (void)options_of(name, "auto"); // throws, naming the nearest
        result.push_back(name);
    }
    return result;
}

operator_options spmv_request::options_of(const std::string& kind,
                                          const std::string& format) const {
    tool::operator_request one = multiply;
    one.kind = kind;
    one.format = format;
    operator_options options = one.options();
    const auto fractions = options.kind ? options.kind->fractions : operator_fractions{};
    // A kind that is chosen may be any.
    if (options.kind && options.transport && !takes(options.kind, options.transport)) {
        options.transport = transports::automatic;
    }
    if (!fractions.long_rows) {
        options.long_fraction = -1;
    }
    if (!fractions.redundant) {
        options.redundant_fraction = -1;
    }
    return options;
}

void spmv_request::check() const {
    (void)multiply.single_precision();
    (void)execution_named(execution);
    (void)operator_list();
    for (const std::string& format : formats) {
        (void)options_of("auto", format);
    }
    effort.check();
    check_files(report_file, csv_file, matrices);
}

void add_options(CLI::App& app, spmv_request& q) {
    add_matrices(app, q.matrices,
                 "unless --families names some, 7-point Poisson 256^3 and 400^3, 256^3 with random "
                 "values, 27-point 256^3, random 4M x 17 (host: 7-point 128^3, 27-point 96^3)");
    tool::add_spd(app, q.spd);
    app.add_flag("--families{all}", q.families,
                 "Families of the gallery, each in --sizes; --families=LIST: these of them");
    add_list(
        app, "--sizes", q.sizes,
        "Sizes of the families: tiny (0.5 M nonzeros), small (10 M), medium (60 M), large (300 M)")
        ->capture_default_str();
    app.add_option("--build-seconds", q.build_seconds,
                   "Members of families that take longer to generate are skipped")
        ->type_name("SECONDS")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    add_execution(app, q.execution);
    app.add_flag("--no-dot", q.without_dot, "Without the times of products with dot(x, y)");
    app.add_option("--target", q.target,
                   "Speed-up over one device: the summary lists where an operator's limit forbids "
                   "it")
        ->type_name("X")
        ->capture_default_str();
    add_effort(app, q.effort);
    add_limits(app, q.limit, q.without_limits);
    tool::add_operator_options(app, q.multiply);
    // These two options take several names here.
    app.remove_option(app.get_option("--operator"));
    app.remove_option(app.get_option("--format"));
    add_list(app, "--operator", q.operators,
             "On several devices: all, or some of " + names_with_commas(operator_names()) +
                 "; behind those that can be measured may stand :measured")
        ->capture_default_str()
        ->group("Operator");
    add_list(app, "--format", q.formats,
             "Formats of a device's block: some of " + names_with_commas(format_names()) +
                 "; without: on one device all that it has, on several the fastest of krylith's")
        ->group("Operator");
    tool::add_backend_options(app, q.devices);
    tool::add_transports(app, q.multiply);
    add_device_counts(app, q.counts, "beside one device, the baseline: 2,4 ... all of them");
    tool::add_timeout(app, q.devices);
    tool::add_report(app, q.report_file);
    add_csv(app, q.csv_file);
}

} // namespace krylith::bench
