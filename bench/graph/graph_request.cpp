#include <krylith/bench/graph/graph_request.hpp>

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/graph/graph_cases.hpp>
#include <krylith/device/error.hpp>

namespace krylith::bench {

std::vector<spmv_case> graph_request::cases() const {
    std::vector<spmv_case> result;
    std::ranges::transform(matrices, std::back_inserter(result), case_of_matrix);
    return result.empty() ? graph_members(families, sizes) : result;
}

void graph_request::check() const {
    for (const double threshold : thresholds) {
        if (!(threshold >= 0)) {
            throw usage_error(
                fmt::format("--thresholds has {}: allowed are 0 and more", threshold));
        }
    }
    if (sources < 1 || repetitions < 1) {
        throw usage_error(fmt::format("--sources is {}, --repetitions {}: allowed are 1 and more",
                                      sources, repetitions));
    }
    if (!(tolerance > 0 && tolerance < 1)) {
        throw usage_error(
            fmt::format("--tolerance is {}: allowed is more than 0 and less than 1", tolerance));
    }
}

void add_options(CLI::App& app, graph_request& q) {
    const auto list = [&](const char* name, auto& values, const char* help) {
        return app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
    };
    app.add_option("MATRIX", q.matrices,
                   "gallery:NAME[:ARGUMENT...] or files; without: --families in --sizes");
    app.add_option("--families", q.families,
                   "all, or a list of road, delaunay, poisson2d, rgg, kmer (high diameter), web, "
                   "rmat, kron, random (low)")
        ->capture_default_str();
    list("--sizes", q.sizes,
         "Of the families: tiny (0.3 M edges), small (3 M), medium (30 M), large (120 M)")
        ->capture_default_str();
    list("--algorithms", q.algorithms, "Of bfs, pagerank, sssp")
        ->check(CLI::IsMember({"bfs", "pagerank", "sssp"}))
        ->capture_default_str();
    app.add_option("--backend", q.backend_name, "auto, cuda or host")->capture_default_str();
    list("--devices", q.devices, "Device counts")->capture_default_str();
    app.add_option("--threads", q.threads, "Threads of all host devices; 0: one a core");
    list(
        "--thresholds", q.thresholds,
        "Of the switches between push and pull: ratios of effective nonzeros up to which they push")
        ->capture_default_str();
    app.add_flag("--no-kernels", q.without_kernels, "Without each kernel by itself");
    app.add_option("--sources", q.sources, "Vertices that bfs and sssp start from")
        ->capture_default_str();
    app.add_option("--tolerance", q.tolerance, "Of pagerank")->capture_default_str();
    app.add_option("--repetitions", q.repetitions, "Of each measurement")->capture_default_str();
    app.add_option("--limit-seconds", q.limit_seconds, "A run that takes longer is not repeated")
        ->capture_default_str();
    app.add_option("--json", q.json_file, "Everything as JSON");
}

} // namespace krylith::bench
