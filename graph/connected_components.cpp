#include <krylith/graph/connected_components.hpp>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/graph/components/vertex_forest.hpp>
#include <krylith/matrix/types/index_width.hpp>

namespace krylith {

namespace {

using labels_buffer = buffer<std::int32_t>;

/// Returns the trees of each device's edges.
template <class T>
std::vector<labels_buffer> grow_trees(const spmspv::group_matrix<T>& matrix) {
    std::vector<labels_buffer> trees;
    for (const auto& m : matrix.local()) {
        device& on = matrix.group()[m.rank];
        const auto edges = m.part->by_rows();
        trees.emplace_back(matrix.group().handle(m.rank), as_size(matrix.size()),
                           "trees of vertices");
        run_items(on, plant_task{trees.back().data()}, matrix.size());
        visit_rows(on, m.rows.size(), edges.nonzeros / m.rows.size(),
                   unite_edges_step{
                       {}, {trees.back().data()}, edges.offsets, edges.indices, m.rows.begin});
    }
    return trees;
}

/// Returns the least vertex of each vertex's component, on the first device.
template <class T>
labels_buffer find_roots(const spmspv::group_matrix<T>& matrix) {
    const device_group& group = matrix.group();
    const std::vector<labels_buffer> trees = grow_trees(matrix);
    const int first = matrix.local().front().rank;
    const std::size_t vertices = as_size(matrix.size());
    labels_buffer other(group.handle(first), vertices, "labels of vertices");
    for (std::size_t m = 1; m < trees.size(); ++m) {
        group.join(); // what was copied before is united
        group.copy(matrix.local()[m].rank, trees[m].data(), first, other.data(),
                   vertices * sizeof(std::int32_t));
        group.join();
        run_items(group[first], unite_trees_task{{trees.front().data()}, other.data()},
                  matrix.size());
    }
    run_items(group[first], write_roots_task{trees.front().data(), other.data()}, matrix.size());
    group.synchronize(); // nothing is freed that work refers to
    return other;
}

} // namespace

template <class T>
connected_components_result connected_components(const graph<T>& g) {
    connected_components_result result;
    result.devices = std::ssize(g.matrix()->local());
    g.group().synchronize();
    step_log log(result);
    if (g.vertices() > 0) {
        const labels_buffer roots = find_roots(*g.matrix());
        log.finish(graph_reason::nothing_left);
        result.labels = roots.download();
    } else {
        log.finish(graph_reason::nothing_left);
    }
    // A root is the least vertex of its component, so that it comes before the others.
    for (std::size_t v = 0; v < result.labels.size(); ++v) {
        std::int32_t& label = result.labels[v];
        if (as_size(label) == v) {
            label = static_cast<std::int32_t>(result.sizes.size());
            result.sizes.push_back(0);
        } else {
            label = result.labels[as_size(label)];
        }
        ++result.sizes[as_size(label)];
    }
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template connected_components_result connected_components(const graph<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
