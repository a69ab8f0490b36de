#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/device/error.hpp>
#include <krylith/graph/shortest_paths.hpp>
#include <krylith/tools/graph/graph_parts.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

template <class T>
void run_sssp(const graph_request& request, const graph<T>& g, graph_figures& f) {
    if (const auto& edge = g.negative())
        throw input_error(fmt::format("{}: the entry in row {} and column {} (from 1) is {}: sssp "
                                      "needs weights of 0 or more",
                                      request.matrix, edge->from + 1, edge->to + 1, edge->weight));
    shortest_paths_options options{.kernels = kernels_of(request)};
    if (request.max_steps > 0) options.max_steps = request.max_steps;
    shortest_paths_search<T> search(g, options);
    const auto found = run_warm(f, [&] { return search(f.sources.front()); });
    note_model(request, f, search);
    f.outcome = found;
    f.reached = found.reached;
    f.farthest = 0;
    std::vector<double> values;
    for (const T distance : found.distances) {
        values.push_back(std::isinf(distance) ? -1 : static_cast<double>(distance));
        f.farthest = std::max(*f.farthest, values.back());
    }
    write_values(request.output_file, values,
                 fmt::format("distances from vertex {} in {}, -1: not reached",
                             f.sources.front() + 1, request.matrix));
}

std::string sssp_outcome(const graph_figures& f, bool complete) {
    return vertices_reached(f, complete, fmt::format("the farthest at {:.6g}", *f.farthest));
}

void report_sssp(const graph_request& /*request*/, const graph_figures& f,
                 nlohmann::ordered_json& to) {
    to["reached"] = f.reached;
    to["farthest"] = *f.farthest;
}

} // namespace

constinit const graph_method graph_rows::sssp = {
    .name = "sssp",
    .help = "lengths of shortest paths from a vertex",
    .start = graph_start::vertex,
    .options = name_list::none(),
    .run = graph_runners{run_sssp<double>, run_sssp<float>},
    .outcome = sssp_outcome,
    .report = report_sssp,
};

} // namespace krylith::tool
