// Breadth-first search, level by level: the vertices of a level are the rows that a product with
// the level before reaches. The adaptive product chooses the direction: push along the edges out of
// that level (column kernels), or pull, looking from each unvisited vertex for an edge into it (row
// kernels). On one device small levels run without products, many in one launch
// (graph/levels/persistent_levels.hpp). Sources: Beamer, Asanovic, Patterson, Direction-optimizing
// breadth-first search, SC 2012; Kepner, Gilbert, Graph Algorithms in the Language of Linear
// Algebra, 2011 (products over a semiring).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/graph/frontier/vertex_array.hpp>
#include <krylith/graph/graph.hpp>
#include <krylith/graph/levels/levels_choice.hpp>
#include <krylith/graph/levels/persistent_search.hpp>
#include <krylith/graph/result/graph_result.hpp>

namespace krylith {

struct bfs_options {
    std::int64_t max_levels = std::numeric_limits<std::int32_t>::max(); ///< 1 or more
    /// Levels run many in one launch while at most this many edges leave them (and until twice as
    /// many do). 0: never. None: default_level_limit() of the device. It applies where one device
    /// has all vertices, and where `kernels` leaves the choice: neither fixed nor as_predicted, nor
    /// clocked or rehearsed.
    std::optional<std::int64_t> level_limit = {};
    spmspv::adaptive_options kernels = {};
    std::optional<bool> one_device = {}; ///< where it runs (graph::search_matrix())
};

struct [[nodiscard]] bfs_result : graph_outcome {
    std::vector<std::int32_t> levels;  ///< edges from the source; -1: not reached
    std::vector<std::int32_t> parents; ///< the least vertex of the level before with an edge to
                                       ///< this one; -1: the source, and vertices not reached
    std::int64_t reached = 0;          ///< vertices reached, with the source
    std::int64_t depth = 0;            ///< the number of the last level
};

/// A search that keeps its memory for the next one: 20 n bytes beside the graph and the vectors,
/// and for persistent levels 32 bytes times the smaller of n and twice the limit. A search costs
/// O(n + edges reached) with column kernels.
template <class T>
class breadth_first_search {
public:
    /// Throws usage_error for max_levels below 1 or level_limit below 0, and what group_product
    /// throws.
    explicit breadth_first_search(const graph<T>& g, const bfs_options& options = {})
        : graph_(&g),
          options_(options),
          matrix_(g.search_matrix(options.one_device)),
          a_(matrix_, options.kernels),
          levels_(*matrix_, "levels"),
          parents_(*matrix_, "parents") {
        if (options.max_levels < 1)
            throw usage_error("bfs_options::max_levels is " + std::to_string(options.max_levels) +
                              ": allowed are 1 and more");
        if (options.level_limit && *options.level_limit < 0)
            throw usage_error("bfs_options::level_limit is " +
                              std::to_string(*options.level_limit) + ": allowed are 0 and more");
        for (const auto& m : a_.local())
            visited_.emplace_back(matrix_->group().handle(m.rank),
                                  as_size((m.rows.size() + 31) / 32), "visited vertices");
        make_level_search();
    }

    /// Returns the levels from `source`. Throws usage_error unless it is a vertex.
    bfs_result operator()(std::int64_t source) {
        graph_->check_vertex("bfs: the source", source);
        bfs_result result;
        result.devices = std::ssize(a_.local());
        matrix_->group().synchronize();
        step_log log(result);
        begin_at(source);

        std::vector<const std::uint32_t*> visited;
        for (const auto& bits : visited_) visited.push_back(bits.data());
        levels_choice choice(level_limit_);
        result.reached = 1;
        std::int64_t level = 1; // the next one
        const auto reached = [&](std::int64_t vertices) {
            if (vertices > 0) result.depth = level;
            result.reached += vertices;
            ++level;
        };
        while (a_.entries() > 0 && level <= options_.max_levels) {
            if (choice.launches(a_.entries(), a_.frontier_nonzeros())) {
                const auto launch = run_levels_from(level);
                log.add(launch.levels);
                for (std::size_t l = 1; l < launch.levels.size(); ++l)
                    reached(launch.levels[l].entries);
                if (!launch.levels.empty()) reached(launch.entries);
                choice.launched(std::ssize(launch.levels), launch.wide);
            } else {
                const auto record = a_.multiply(visited);
                a_.advance([&](std::size_t m) { return visit_on(m, level); });
                log.add(record);
                reached(a_.entries());
                choice.multiplied();
            }
        }

        log.finish(a_.entries() == 0 ? graph_reason::nothing_left : graph_reason::max_steps);
        result.levels = levels_.download();
        result.parents = parents_.download();
        return result;
    }

    /// The model that chooses kernels.
    [[nodiscard]] const spmspv::kernel_model* model() const noexcept { return a_.model(); }

private:
    void make_level_search() {
        const bool free = !options_.kernels.fixed && !options_.kernels.as_predicted &&
                          !options_.kernels.measure();
        if (a_.local().size() != 1 || !free) return;
        level_limit_ = options_.level_limit.value_or(default_level_limit(matrix_->group().kind()));
        if (level_limit_ == 0) return;
        const auto& all = a_.local().front();
        const auto edges = all.part->by_columns();
        level_search_ = std::make_unique<spmspv::persistent_search>(
            matrix_->group().handle(all.rank), spmspv::edge_lists{edges.offsets, edges.indices},
            graph_->vertices(), levels_choice(level_limit_).most_frontier_nonzeros());
    }

    /// Returns the rule that reaches a level.
    [[nodiscard]] spmspv::visit visit_on(std::size_t m, std::int64_t level) const {
        return {levels_[m], parents_[m], visited_[m].data(), static_cast<std::int32_t>(level)};
    }

    /// Runs levels from `level` on in one launch; x becomes the frontier that is left.
    spmspv::persistent_levels run_levels_from(std::int64_t level) {
        auto& x = a_.x(0);
        level_search_->enqueue(visit_on(0, level), x, options_.max_levels - level + 1);
        const auto launch = level_search_->wait(x);
        a_.x_became(launch.frontier_nonzeros);
        return launch;
    }

    void begin_at(std::int64_t source) {
        a_.restart();
        levels_.fill(-1);
        levels_.set(source, 0);
        parents_.fill(-1);
        for (std::size_t m = 0; m < visited_.size(); ++m) {
            visited_[m].zero();
            const row_range rows = a_.local()[m].rows;
            if (!rows.contains(source)) continue;
            const std::int64_t at = source - rows.begin;
            const std::uint32_t bit = std::uint32_t{1} << (at % 32);
            spmspv::fill(matrix_->group()[a_.local()[m].rank], visited_[m].data() + at / 32, 1,
                         bit);
        }
        const auto index = static_cast<std::int32_t>(source);
        const std::int32_t value = 0; // nobody reads it
        a_.assign(std::span(&index, 1), std::span(&value, 1));
    }

    unmoved<const graph<T>*> graph_;
    bfs_options options_;
    std::shared_ptr<const spmspv::group_matrix<T>> matrix_;
    spmspv::group_product<spmspv::min_column, T> a_;
    vertex_array<T, std::int32_t> levels_;
    vertex_array<T, std::int32_t> parents_;
    std::vector<buffer<std::uint32_t>> visited_; ///< bits of the rows of each device
    std::int64_t level_limit_ = 0;               ///< edges; 0: no persistent levels
    std::unique_ptr<spmspv::persistent_search> level_search_;
};

/// Runs one search.
template <class T>
bfs_result bfs(const graph<T>& g, std::int64_t source, const bfs_options& options = {}) {
    return breadth_first_search<T>(g, options)(source);
}

} // namespace krylith
