// Breadth-first search: level by level, the vertices reached are those that a product with the
// level before has an entry at. Whether it goes along the edges out of that level (push, column
// kernels) or looks from every vertex that was not reached for an edge into it (pull, row kernels)
// is the adaptive product's choice.
// (Beamer, Asanovic, Patterson, Direction-optimizing breadth-first search, SC 2012; as products
// over a semiring: Kepner, Gilbert, Graph Algorithms in the Language of Linear Algebra, 2011.)
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/graph.hpp>
#include <krylith/solvers/graph_result.hpp>
#include <krylith/solvers/vertex_array.hpp>

namespace krylith {

struct bfs_options {
    std::int64_t max_levels = std::numeric_limits<std::int32_t>::max(); ///< 1 or more
    spmspv::adaptive_options kernels = {};
};

struct [[nodiscard]] bfs_result : graph_outcome {
    std::vector<std::int32_t> levels;  ///< edges from the source; -1: not reached
    std::vector<std::int32_t> parents; ///< the least vertex of the level before with an edge here;
                                       ///< -1: the source, and what was not reached
    std::int64_t reached = 0;          ///< vertices, with the source
    std::int64_t depth = 0;            ///< the last level
};

/// Keeps its memory for one search after the other. Memory beside the graph's: 20 n bytes and what
/// vectors take. A search is O(n + edges reached) with column kernels.
template <class T>
class breadth_first_search {
public:
    /// Throws usage_error for max_levels below 1, and what group_product throws.
    explicit breadth_first_search(const graph<T>& g, const bfs_options& options = {})
        : graph_(&g),
          options_(options),
          a_(g.matrix(), options.kernels),
          levels_(*g.matrix(), "levels"),
          parents_(*g.matrix(), "parents") {
        if (options.max_levels < 1)
            throw usage_error("bfs_options::max_levels is " + std::to_string(options.max_levels) +
                              ": allowed are 1 and more");
        for (const auto& m : a_.members())
            visited_.emplace_back(g.group().share(m.rank), as_size((m.rows.size() + 31) / 32),
                                  "visited vertices");
    }

    /// Throws usage_error unless `source` is a vertex.
    bfs_result operator()(std::int64_t source) {
        graph_->check_vertex("bfs: the source", source);
        bfs_result result;
        graph_->group().synchronize();
        step_log log(result);
        begin_at(source);

        std::vector<const std::uint32_t*> visited;
        for (const auto& bits : visited_) visited.push_back(bits.data());
        result.reached = 1;
        for (std::int64_t level = 1; a_.entries() > 0 && level <= options_.max_levels; ++level) {
            const auto record = a_.multiply(visited);
            a_.advance([&](std::size_t m) {
                return spmspv::visit{levels_[m], parents_[m], visited_[m].data(),
                                     static_cast<std::int32_t>(level)};
            });
            log.add(record);
            if (a_.entries() > 0) result.depth = level;
            result.reached += a_.entries();
        }

        log.finish(a_.entries() == 0 ? graph_reason::nothing_left : graph_reason::max_steps);
        result.levels = levels_.download();
        result.parents = parents_.download();
        return result;
    }

    /// What its products choose by.
    [[nodiscard]] const spmspv::kernel_model* model() const noexcept { return a_.model(); }

private:
    void begin_at(std::int64_t source) {
        a_.restart();
        levels_.fill(-1);
        levels_.set(source, 0);
        parents_.fill(-1);
        for (std::size_t m = 0; m < visited_.size(); ++m) {
            visited_[m].zero();
            const row_range rows = a_.members()[m].rows;
            if (!rows.contains(source)) continue;
            const std::int64_t at = source - rows.begin;
            const std::uint32_t bit = std::uint32_t{1} << (at % 32);
            spmspv::fill(graph_->group()[a_.members()[m].rank], visited_[m].data() + at / 32, 1,
                         bit);
        }
        const auto index = static_cast<std::int32_t>(source);
        const std::int32_t value = 0; // nobody reads it
        a_.assign(std::span(&index, 1), std::span(&value, 1));
    }

    const graph<T>* graph_;
    bfs_options options_;
    spmspv::group_product<spmspv::min_column, T> a_;
    vertex_array<T, std::int32_t> levels_;
    vertex_array<T, std::int32_t> parents_;
    std::vector<buffer<std::uint32_t>> visited_; ///< bits of each member's rows
};

/// One search.
template <class T>
bfs_result bfs(const graph<T>& g, std::int64_t source, const bfs_options& options = {}) {
    return breadth_first_search<T>(g, options)(source);
}

} // namespace krylith
