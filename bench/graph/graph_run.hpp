// A run of each algorithm on each graph, by each contestant.
#pragma once

#include <vector>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/bench/graph/graph_contestant.hpp>
#include <krylith/bench/graph/graph_request.hpp>

namespace krylith::bench {

class graph_run {
public:
    explicit graph_run(const graph_request& request);
    /// Returns false where a check failed or a matrix that was named can't be read.
    [[nodiscard]] bool run();

private:
    void run_case(const spmv_case& c);
    void run_algorithm(const spmv_case& c, const csr_matrix<float>& matrix,
                       const std::string& algorithm, int devices);

    graph_request request_;
    device_choice choice_;
    report report_;
    std::vector<json> rows_;
};

/// Adds to rows of one graph, algorithm and device count how many times as long as adaptive the
/// others took, in the row of adaptive: "speedup": {"cusparse", "best_switch", "best_kernel"}.
void add_graph_speedups(std::vector<json>& rows);

/// Summarises all graphs for each algorithm and device count: geometric means of the speedups, the
/// threshold that is the best for all graphs together, and the speedup over that.
[[nodiscard]] json graph_summary(const std::vector<json>& rows);

} // namespace krylith::bench
