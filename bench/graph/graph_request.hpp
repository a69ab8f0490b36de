// The request of `krylith bench graph`.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/spmv/spmv_families.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct graph_request {
    std::vector<std::string> matrices;
    std::string families = "all"; ///< where no matrix is named
    std::vector<std::string> sizes = {"small"};
    std::vector<std::string> algorithms = {"bfs", "pagerank", "sssp"};
    tool::device_options devices;
    std::vector<int> counts = {1};
    std::vector<double> thresholds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1};
    bool oracle = false; ///< judges the choice of kernels product by product, instead of a contest
    bool without_kernels = false; ///< leaves out each kernel by itself
    int sources = 4;              ///< for bfs and sssp
    double tolerance = 1e-6;      ///< for pagerank
    int repetitions = 5;
    double limit_seconds = 20; ///< a run that takes longer is not repeated
    std::string report_file;

    [[nodiscard]] std::vector<spmv_case> cases() const;
    /// Throws usage_error naming the first value that is not allowed.
    void check() const;
};

void add_options(CLI::App& app, graph_request& q);

} // namespace krylith::bench
