#include <krylith/bench/streamed/streamed_request.hpp>

#include <algorithm>

#include <CLI/CLI.hpp>

#include <krylith/device/error.hpp>

namespace krylith::bench {

std::vector<std::string> msrep_request::matrix_list(backend devices_of) const {
    if (!matrices.empty()) {
        return matrices;
    }
    if (devices_of == backend::cuda) {
        return {"gallery:rmat:20", "gallery:kron:20", "gallery:poisson3d_27point:160"};
    }
    return {"gallery:rmat:14", "gallery:poisson3d:48"};
}

std::vector<std::string> msrep_request::format_list() const {
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

std::vector<streamed_version> msrep_request::version_list() const {
    std::vector<streamed_version> result;
    for (const std::string& name : versions) {
        const std::size_t before = result.size();
        for (const auto version :
             {streamed_version::baseline, streamed_version::p, streamed_version::p_opt}) {
            if (name == to_string(version)) {
                result.push_back(version);
            }
        }
        if (result.size() == before) {
            throw usage_error("unknown version '" + name + "'; allowed are baseline, p, p_opt");
        }
    }
    return result;
}

void add_options(CLI::App& app, msrep_effort& effort) {
    app.add_option("--repetitions", effort.repetitions, "Calls, at least")->capture_default_str();
    app.add_option("--seconds", effort.seconds,
                   "And until they have taken so long; 10 times as many at most")
        ->capture_default_str();
    app.add_option("--warm-up", effort.warm_up, "Calls before these")->capture_default_str();
}

void add_options(CLI::App& app, msrep_request& q) {
    const auto list = [&](const char* name, auto& values, const char* help) {
        return app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
    };
    app.add_option("MATRIX", q.matrices,
                   "gallery:NAME[:ARGUMENT...] or Matrix Market files, square; without: rmat 2^20, "
                   "kron 2^20, 27-point 160^3");
    list("--format", q.formats, "all, or of csr, csc, coo, coo-columns, coo-unsorted")
        ->capture_default_str();
    list("--version", q.versions, "Of baseline, p, p_opt")->capture_default_str();
    app.add_option("--backend", q.backend_name, "auto, cuda or host")->capture_default_str();
    list("--devices", q.devices, "Device counts; without: 1 to all (host: 1)");
    app.add_option("--threads", q.threads, "Threads of all host devices; 0: one a core");
    app.add_flag("--pageable", q.pageable,
                 "The arrays of p and p_opt are pageable too, as those of baseline always are");
    add_options(app, q.effort);
    app.add_option("--json", q.json_file, "Everything as JSON");
    app.add_option("--csv", q.csv_file, "One line a case");
}

} // namespace krylith::bench
