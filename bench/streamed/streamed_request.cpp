#include <krylith/bench/streamed/streamed_request.hpp>

#include <algorithm>

#include <CLI/CLI.hpp>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

std::vector<std::string> streamed_request::matrix_list(backend devices_of) const {
    if (!matrices.empty()) {
        return matrices;
    }
    if (devices_of == backend::cuda) {
        return {"gallery:rmat:20", "gallery:kron:20", "gallery:poisson3d_27point:160"};
    }
    return {"gallery:rmat:14", "gallery:poisson3d:48"};
}

std::vector<std::string> streamed_request::format_list() const {
    if (formats == std::vector<std::string>{"all"}) {
        return streamed_formats();
    }
    for (const std::string& format : formats) {
        if (std::ranges::find(streamed_formats(), format) == streamed_formats().end()) {
            throw usage_error("unknown format '" + format +
                              "'; allowed are all, csr, csc, coo, coo-columns, coo-unsorted");
        }
    }
    return formats;
}

void streamed_request::check_versions() const {
    for (const std::string& name : versions) {
        if (std::ranges::find(streamed_versions(), name) == streamed_versions().end()) {
            throw usage_error("unknown version '" + name + "'; allowed are baseline, p, p_opt");
        }
    }
}

void add_options(CLI::App& app, streamed_effort& effort) {
    app.add_option("--repetitions", effort.repetitions, "Calls, at least")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--seconds", effort.seconds,
                   "And until they have taken so long; 10 times as many at most")
        ->type_name("SECONDS")
        ->capture_default_str();
    app.add_option("--warm-up", effort.warm_up, "Calls before these")
        ->type_name("N")
        ->capture_default_str();
}

void add_options(CLI::App& app, streamed_request& q) {
    add_matrices(app, q.matrices, "rmat 2^20, kron 2^20, 27-point 160^3; they must be square");
    add_list(app, "--format", q.formats, "all, or some of csr, csc, coo, coo-columns, coo-unsorted")
        ->capture_default_str();
    add_list(app, "--version", q.versions, "Some of baseline, p, p_opt")->capture_default_str();
    app.add_flag("--pageable", q.pageable,
                 "The arrays of p and p_opt are pageable too, as those of baseline always are");
    add_options(app, q.effort);
    add_backend(app, q.devices);
    add_device_counts(app, q.counts);
    tool::add_report(app, q.report_file);
    add_csv(app, q.csv_file);
}

} // namespace krylith::bench
