// The contestants: the adaptive product, one kernel always, a switch between push and pull at a
// threshold that never changes, and cuSPARSE with dense vectors in every step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <krylith/graph/graph.hpp>
#include <krylith/graph/result/graph_result.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/spmspv/adaptive_product.hpp>

namespace krylith::bench {

struct graph_contestant {
    std::string name;                ///< "adaptive", a kernel's, "switch:0.05:balanced", "cusparse"
    std::optional<double> threshold; ///< of switches
    spmspv::adaptive_options kernels;
    bool cusparse = false;
};

/// Returns adaptive, cusparse where it can run, each kernel, and switches of both distributions
/// with each threshold.
[[nodiscard]] std::vector<graph_contestant>
graph_contestants(const std::vector<double>& thresholds, bool with_kernels, bool with_cusparse);

/// A model that takes push (column, atomic) up to this ratio of effective nonzeros, else pull
/// (row).
[[nodiscard]] spmspv::kernel_model fixed_switch(double threshold,
                                                spmspv::distribution distribution);

/// The time and the results of one run of an algorithm from all sources.
struct graph_timing {
    double seconds = 0;                  ///< a source
    std::vector<graph_outcome> outcomes; ///< by source
    std::string wrong;                   ///< empty if checked and right, or not checked
};

struct graph_task {
    std::string algorithm; ///< bfs, pagerank, sssp
    const csr_matrix<float>* matrix;
    std::vector<std::int64_t> sources; ///< empty for pagerank
    double tolerance = 1e-6;           ///< for pagerank
};

/// A contestant's algorithm on a graph, which keeps its memory from run to run.
class graph_runner {
public:
    virtual ~graph_runner() = default;
    /// Runs from all sources; with `check` also checks the results.
    [[nodiscard]] virtual graph_timing run(bool check) = 0;
};

/// Makes a runner; null for sssp by cuSPARSE, which can't do it. Throws what the algorithms throw.
[[nodiscard]] std::unique_ptr<graph_runner>
make_runner(const graph_contestant& c, const graph<float>& g, const graph_task& task);

} // namespace krylith::bench
