// Shortest paths from one vertex by the method of Bellman and Ford, where only vertices whose
// distance has just fallen pass it on. A step is a product over (min, +).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>
#include <krylith/graph/frontier/vertex_array.hpp>
#include <krylith/graph/graph.hpp>
#include <krylith/graph/result/graph_result.hpp>

namespace krylith {

struct shortest_paths_options {
    std::int64_t max_steps = std::numeric_limits<std::int32_t>::max(); ///< 1 or more
    spmspv::adaptive_options kernels = {};
    std::optional<bool> one_device = {}; ///< where it runs (graph::search_matrix())
};

template <class T>
struct [[nodiscard]] shortest_paths_result : graph_outcome {
    std::vector<T> distances; ///< infinite where no path leads; after max_steps, of the shortest
                              ///< paths of at most that many edges
    std::int64_t reached = 0; ///< vertices with a distance, the source among them
};

/// A search that keeps its memory for the next source. Weights must be 0 or more; an infinite one
/// is no edge. Distances are sums in T from the source outwards: the same bits whatever kernels
/// compute them, and on any number of devices. It takes at most n steps and O(n edges), usually a
/// few times the edges.
template <class T>
class shortest_paths_search {
public:
    /// Throws input_error for a negative weight or NaN, and usage_error for max_steps below 1.
    explicit shortest_paths_search(const graph<T>& g, const shortest_paths_options& options = {})
        : graph_(&g),
          options_(options),
          matrix_(checked(g, options)),
          a_(matrix_, options.kernels),
          distances_(*matrix_, "distances") {}

    /// Returns the distances from `source`. Throws usage_error unless it is a vertex.
    shortest_paths_result<T> operator()(std::int64_t source) {
        graph_->check_vertex("shortest_paths: the source", source);
        shortest_paths_result<T> result;
        result.devices = std::ssize(a_.local());
        matrix_->group().synchronize();
        step_log log(result);
        a_.restart();
        distances_.fill(infinite);
        distances_.set(source, T(0));
        const auto index = static_cast<std::int32_t>(source);
        const T zero = 0;
        a_.assign(std::span(&index, 1), std::span(&zero, 1));

        for (std::int64_t step = 0; a_.entries() > 0 && step < options_.max_steps; ++step) {
            const auto record = a_.multiply();
            a_.advance([&](std::size_t m) { return spmspv::shorten<T>{distances_[m]}; });
            log.add(record);
        }

        log.finish(a_.entries() == 0 ? graph_reason::nothing_left : graph_reason::max_steps);
        result.distances = distances_.download();
        for (const T distance : result.distances) result.reached += distance < infinite ? 1 : 0;
        return result;
    }

    /// The model that chooses kernels.
    [[nodiscard]] const spmspv::kernel_model* model() const noexcept { return a_.model(); }

private:
    static constexpr T infinite = std::numeric_limits<T>::infinity();

    static const std::shared_ptr<const spmspv::group_matrix<T>>&
    checked(const graph<T>& g, const shortest_paths_options& options) {
        if (options.max_steps < 1)
            throw usage_error("shortest_paths_options::max_steps is " +
                              std::to_string(options.max_steps) + ": allowed are 1 and more");
        if (const auto& edge = g.negative())
            throw input_error("shortest_paths: the edge from vertex " + std::to_string(edge->from) +
                              " to " + std::to_string(edge->to) + " has the weight " +
                              number_text(static_cast<double>(edge->weight)) +
                              ": allowed are 0 and more");
        return g.search_matrix(options.one_device);
    }

    unmoved<const graph<T>*> graph_;
    shortest_paths_options options_;
    std::shared_ptr<const spmspv::group_matrix<T>> matrix_;
    spmspv::group_product<spmspv::min_plus<T>, T> a_;
    vertex_array<T, T> distances_;
};

/// Runs one search.
template <class T>
shortest_paths_result<T> shortest_paths(const graph<T>& g, std::int64_t source,
                                        const shortest_paths_options& options = {}) {
    return shortest_paths_search<T>(g, options)(source);
}

} // namespace krylith
