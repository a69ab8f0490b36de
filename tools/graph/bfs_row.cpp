#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/graph/bfs.hpp>
#include <krylith/tools/graph/graph_parts.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

template <class T>
void run_bfs(const graph_request& request, const graph<T>& g, graph_figures& f) {
    bfs_options options{.level_limit = request.level_limit, .kernels = kernels_of(request)};
    if (request.max_steps > 0) options.max_levels = request.max_steps;
    breadth_first_search<T> search(g, options);
    const bfs_result found = run_warm(f, [&] { return search(f.sources.front()); });
    note_model(request, f, search);
    f.outcome = found;
    f.reached = found.reached;
    f.depth = found.depth;
    write_values(request.output_file, {found.levels.begin(), found.levels.end()},
                 fmt::format("levels of vertices from vertex {} in {}, -1: not reached",
                             f.sources.front() + 1, request.matrix));
    std::vector<double> parents;
    for (const auto parent : found.parents) parents.push_back(parent < 0 ? -1 : parent + 1.0);
    write_values(request.parents_file, parents,
                 fmt::format("parents, counted from 1, from vertex {} in {}, -1: none",
                             f.sources.front() + 1, request.matrix));
}

std::string bfs_outcome(const graph_figures& f, bool complete) {
    return vertices_reached(f, complete, fmt::format("the last on level {}", *f.depth));
}

void report_bfs(const graph_request& request, const graph_figures& f, nlohmann::ordered_json& to) {
    to["reached"] = f.reached;
    to["level_limit"] = request.level_limit ? nlohmann::ordered_json(*request.level_limit)
                                            : nlohmann::ordered_json();
    to["depth"] = *f.depth;
}

} // namespace

constinit const graph_method graph_rows::bfs = {
    .name = "bfs",
    .help = "levels from a vertex",
    .start = graph_start::vertex,
    .options = {"--level-limit", "--parents"},
    .run = graph_runners{run_bfs<double>, run_bfs<float>},
    .outcome = bfs_outcome,
    .report = report_bfs,
};

} // namespace krylith::tool
