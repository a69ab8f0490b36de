// What graph algorithms report of their steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <krylith/graph/frontier/group_product.hpp>
#include <krylith/graph/levels/persistent_search.hpp>

namespace krylith {

/// Why a graph algorithm ended.
enum class graph_reason {
    nothing_left, ///< no vertex has anything to pass on: the result is complete
    converged,    ///< PageRank: the bound on the error is within the tolerance
    max_steps     ///< the steps ran out
};

[[nodiscard]] constexpr const char* to_string(graph_reason why) noexcept {
    return why == graph_reason::nothing_left ? "nothing_left"
           : why == graph_reason::converged  ? "converged"
                                             : "max_steps";
}

/// A product with its rule, or a level of breadth-first search that ran without a product.
struct graph_step {
    std::int64_t entries = 0;           ///< entries of x: vertices that pass something on
    std::int64_t frontier_nonzeros = 0; ///< edges that leave them
    /// The kernels of the devices that have vertices, in their order; empty for persistent levels.
    std::vector<spmspv::kernel> kernels = {};
    spmspv::exchange_form sent = spmspv::exchange_form::none; ///< how x got to the other devices
    double select_seconds = 0;                                ///< time of the host for choosing
                                                              ///< kernels
    /// The time until the host knew the size of the next x. In PageRank's dense steps, most of
    /// which the host doesn't wait for, it is the time until it read the sums or had enqueued the
    /// step. Persistent levels have the device's clock; the first of a launch also has the time of
    /// the launch and of the wait.
    double seconds = 0;
    /// The launch, from 1, of a level that ran with others in one
    /// (graph/levels/persistent_levels.hpp); 0: a product.
    std::int32_t launch = 0;
    /// The records of the devices' products; empty unless the options of kernels have them clocked
    /// or rehearsed, which `seconds` then includes.
    std::vector<spmspv::product_record> products = {};
};

/// What all results of graph algorithms have.
struct graph_outcome {
    graph_reason reason = graph_reason::max_steps;
    std::int64_t devices = 0; ///< those that took part
    double seconds = 0; ///< from the cleared state to the last step, without downloading results
    std::vector<graph_step> steps;

    [[nodiscard]] std::int64_t iterations() const noexcept {
        return static_cast<std::int64_t>(steps.size());
    }
    /// The number of edges traversed in all steps together.
    [[nodiscard]] std::int64_t frontier_nonzeros() const noexcept {
        std::int64_t sum = 0;
        for (const graph_step& step : steps) sum += step.frontier_nonzeros;
        return sum;
    }
    /// 10^9 edges traversed a second. For breadth-first search these are the edges out of vertices
    /// reached: Graph500's measure, with loops and both directions of undirected edges counted.
    [[nodiscard]] double gteps() const noexcept {
        return seconds > 0 ? static_cast<double>(frontier_nonzeros()) / seconds * 1e-9 : 0;
    }
};

/// Measures the time of steps.
class step_log {
public:
    explicit step_log(graph_outcome& outcome) : outcome_(outcome) {}

    void add(const spmspv::group_product_record& record) {
        graph_step step{record.entries, record.frontier_nonzeros, {}, record.sent, 0, 0};
        if (record.measured) step.products = record.products;
        for (const auto& product : record.products) {
            step.kernels.push_back(product.used);
            step.select_seconds += product.select_seconds;
        }
        const double now = seconds();
        step.seconds = now - outcome_.seconds;
        outcome_.seconds = now;
        outcome_.steps.push_back(std::move(step));
    }
    /// Adds the levels of one launch. Where there are none its time goes to the next step.
    void add(std::span<const spmspv::level_record> levels) {
        if (levels.empty()) return;
        const double now = seconds();
        double besides = now - outcome_.seconds;
        for (const auto& level : levels) besides -= level.seconds;
        outcome_.seconds = now;
        ++launches_;
        for (const auto& level : levels) {
            graph_step step{.entries = level.entries,
                            .frontier_nonzeros = level.frontier_nonzeros,
                            .seconds = level.seconds};
            step.launch = launches_;
            step.seconds += std::max(std::exchange(besides, 0.0), 0.0);
            outcome_.steps.push_back(std::move(step));
        }
    }
    /// Ends the log. The time since the last step belongs to no step.
    void finish(graph_reason why) {
        outcome_.seconds = seconds();
        outcome_.reason = why;
    }

private:
    using clock = std::chrono::steady_clock;
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(clock::now() - start_).count();
    }

    graph_outcome& outcome_;
    std::int32_t launches_ = 0;
    clock::time_point start_ = clock::now();
};

} // namespace krylith
