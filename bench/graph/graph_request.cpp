#include <krylith/bench/graph/graph_request.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/bench/common/shared_options.hpp>
#include <krylith/bench/graph/graph_cases.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/shared_options.hpp>

namespace krylith::bench {

namespace {

constexpr std::array<std::string_view, 3> algorithm_names = {"bfs", "pagerank", "sssp"};

} // namespace

std::vector<spmv_case> graph_request::cases() const {
    std::vector<spmv_case> result;
    std::ranges::transform(matrices, std::back_inserter(result), case_of_matrix);
    return result.empty() ? graph_members(families, sizes) : result;
}

void graph_request::check() const {
    for (const std::string& algorithm : algorithms) {
        tool::check_name("graph algorithm", algorithm, algorithm_names);
    }
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
    check_files(report_file, "", matrices);
    if (!(tolerance > 0 && tolerance < 1)) {
        throw usage_error(
            fmt::format("--tolerance is {}: allowed is more than 0 and less than 1", tolerance));
    }
}

void add_options(CLI::App& app, graph_request& q) {
    const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
        return app.add_option(name, value, help)->type_name(type)->capture_default_str();
    };
    add_matrices(app, q.matrices, "--families in --sizes");
    add("--families", q.families, "LIST",
        "all, or some of road, delaunay, poisson2d, rgg, kmer (high diameter), web, rmat, kron, "
        "random (low)");
    add_list(app, "--sizes", q.sizes,
             "Sizes of the families: tiny (0.3 M edges), small (3 M), medium (30 M), large (120 M)")
        ->capture_default_str();
    add_list(app, "--algorithms", q.algorithms, "Some of bfs, pagerank, sssp")
        ->capture_default_str();
    add_list(app, "--thresholds", q.thresholds,
             "Ratios of effective nonzeros up to which switches between push and pull push")
        ->capture_default_str();
    app.add_flag("--no-kernels", q.without_kernels, "Leave out each kernel by itself");
    app.add_flag("--oracle", q.oracle,
                 "Time all kernels before each product, in --repetitions rounds, and say how often "
                 "the choice is right and what it loses; instead of contestants");
    add("--sources", q.sources, "N", "Vertices that bfs and sssp start from");
    add("--tolerance", q.tolerance, "R", "Tolerance of pagerank");
    add("--repetitions", q.repetitions, "N", "Repetitions of each measurement");
    add("--limit-seconds", q.limit_seconds, "SECONDS", "A run that takes longer is not repeated");
    add_backend(app, q.devices);
    add_device_counts(app, q.counts, "1");
    tool::add_report(app, q.report_file);
}

} // namespace krylith::bench
