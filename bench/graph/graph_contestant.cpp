#include <krylith/bench/graph/graph_contestant.hpp>

#include <utility>

#include <fmt/format.h>

#include <krylith/bench/graph/graph_check.hpp>
#include <krylith/bench/graph/graph_cusparse.hpp>
#include <krylith/config.hpp>
#include <krylith/graph/bfs.hpp>
#include <krylith/graph/pagerank.hpp>
#include <krylith/graph/shortest_paths.hpp>

namespace krylith::bench {

namespace {

using spmspv::decision_tree;
using spmspv::direction;
using spmspv::distribution;
using spmspv::feature;
using spmspv::kernel_model;
using spmspv::tree_node;

tree_node leaf(int label) {
    tree_node node;
    node.label = label;
    return node;
}

void note(graph_timing& timing, const graph_outcome& outcome, const std::string& wrong) {
    timing.seconds += outcome.seconds;
    timing.outcomes.push_back(outcome);
    if (timing.wrong.empty()) {
        timing.wrong = wrong;
    }
}

std::string flaw_of(const csr_matrix<float>& a, std::int64_t source, const bfs_result& found) {
    return check_levels(a, source, found.levels);
}
std::string flaw_of(const csr_matrix<float>& a, std::int64_t source,
                    const shortest_paths_result<float>& found) {
    return check_distances(a, source, found.distances);
}

/// Searches from each source. Search is breadth_first_search or shortest_paths_search.
template <class Search>
class search_runner final : public graph_runner {
public:
    search_runner(const graph<float>& g, graph_task task, const spmspv::adaptive_options& kernels)
        : task_(std::move(task)), search_(g, {.kernels = kernels}) {}
    graph_timing run(bool check) override {
        graph_timing timing;
        for (const auto source : task_.sources) {
            const auto found = search_(source);
            note(timing, found, check ? flaw_of(*task_.matrix, source, found) : "");
        }
        timing.seconds /= static_cast<double>(task_.sources.size());
        return timing;
    }

private:
    graph_task task_;
    Search search_;
};

class pagerank_runner final : public graph_runner {
public:
    pagerank_runner(const graph<float>& g, graph_task task, const spmspv::adaptive_options& kernels)
        : task_(std::move(task)),
          iteration_(g, {.tolerance = task_.tolerance, .kernels = kernels}) {}
    graph_timing run(bool check) override {
        graph_timing timing;
        const auto found = iteration_();
        std::string wrong;
        if (found.reason != graph_reason::converged) {
            wrong = fmt::format("not converged: the bound is {:.1e}", found.error_bound);
        } else if (check) {
            wrong = check_ranks(*task_.matrix, pagerank_options().damping, found.ranks,
                                found.error_bound);
        }
        note(timing, found, wrong);
        return timing;
    }

private:
    graph_task task_;
    pagerank_iteration<float> iteration_;
};

} // namespace

kernel_model fixed_switch(double threshold, distribution way) {
    const auto is = [](auto label) {
        return decision_tree({leaf(static_cast<int>(label))}, static_cast<int>(label) + 1);
    };
    tree_node root;
    root.tests = feature::effective_ratio;
    root.threshold = threshold;
    root.below = 1;
    root.above = 2;
    decision_tree push_or_pull(
        {root, leaf(static_cast<int>(direction::push)), leaf(static_cast<int>(direction::pull))},
        3);
    return {fmt::format("switch at {:g}", threshold),
            "any",
            "a rule: push or pull",
            push_or_pull,
            is(way),
            is(way),
            is(spmspv::write_back::atomic)};
}

std::vector<graph_contestant> graph_contestants(const std::vector<double>& thresholds,
                                                bool with_kernels, bool with_cusparse) {
    std::vector<graph_contestant> all;
    all.push_back({"adaptive", {}, {}, false});
    if (with_cusparse) {
        all.push_back({"cusparse", {}, {}, true});
    }
    for (const double threshold : thresholds) {
        for (const auto way : {distribution::direct, distribution::balanced}) {
            auto model = std::make_shared<const kernel_model>(fixed_switch(threshold, way));
            all.push_back({fmt::format("switch:{:g}:{}", threshold,
                                       way == distribution::direct ? "direct" : "balanced"),
                           threshold,
                           {.model = std::move(model), .as_predicted = true},
                           false});
        }
    }
    if (with_kernels) {
        for (const auto name : spmspv::kernel_names) {
            all.push_back({std::string(name), {}, {.fixed = spmspv::parse_kernel(name)}, false});
        }
    }
    return all;
}

std::unique_ptr<graph_runner> make_runner(const graph_contestant& c, const graph<float>& g,
                                          const graph_task& task) {
    if (c.cusparse) {
#if KRYLITH_HAVE_CUDA
        return make_cusparse_runner(g, task);
#else
        return nullptr;
#endif
    }
    if (task.algorithm == "bfs") {
        return std::make_unique<search_runner<breadth_first_search<float>>>(g, task, c.kernels);
    }
    if (task.algorithm == "sssp") {
        return std::make_unique<search_runner<shortest_paths_search<float>>>(g, task, c.kernels);
    }
    return std::make_unique<pagerank_runner>(g, task, c.kernels);
}

} // namespace krylith::bench
