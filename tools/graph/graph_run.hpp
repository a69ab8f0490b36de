// krylith graph: an algorithm on the graph of a matrix, on the devices that were asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/graph/result/graph_result.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace krylith::tool {

struct graph_request {
    std::string algorithm; ///< the name of one of graph_algorithms
    std::string matrix;
    std::string source; ///< vertices from 1, separated by commas; empty: 1, of pagerank all
    std::string kernel = "adaptive";
    bool reproducible = false;
    double damping = 0.85;
    double tolerance = 1e-6;
    std::int64_t max_steps = -1;             ///< -1: the algorithm's own
    std::optional<std::int64_t> level_limit; ///< of bfs; none: the device's
    std::string precision = "fp64";
    device_options devices;
    std::string output_file;  ///< levels, ranks, distances, labels or counts of triangles
    std::string parents_file; ///< of bfs
};

struct graph_figures {
    std::int64_t vertices = 0;
    std::int64_t edges = 0;
    std::vector<std::int64_t> sources; ///< from 0; empty: all of pagerank, or none
    std::vector<std::string> devices;
    backend kind = backend::host;
    std::string model; ///< that kernels were chosen by; empty where one was asked for
    double load_seconds = 0;
    double setup_seconds = 0;
    graph_outcome outcome;
    std::int64_t reached = 0;                             ///< bfs, sssp
    std::optional<std::int64_t> depth;                    ///< bfs: the last level
    std::optional<double> farthest;                       ///< sssp: the longest distance
    std::optional<double> error_bound;                    ///< pagerank
    std::vector<std::pair<std::int64_t, double>> highest; ///< pagerank: vertices from 0, and ranks
    /// components: the sizes that there are, the largest first, and how many components have each
    std::vector<std::pair<std::int64_t, std::int64_t>> component_sizes;
    std::optional<std::int64_t> triangles;
};

/// Runs it once to warm up where that changes the time (GPUs), then once, and writes the files.
/// Throws usage_error for names, options and sources that are not allowed, input_error for a matrix
/// that can't be taken. T is the type of request.precision.
template <class T>
[[nodiscard]] graph_figures run_graph(const graph_request& request);

/// Vertices are counted from 1.
[[nodiscard]] std::string json_report(const graph_request& request, const graph_figures& f);
[[nodiscard]] std::string summary(const graph_request& request, const graph_figures& f);

} // namespace krylith::tool
