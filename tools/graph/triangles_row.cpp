#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/graph/triangle_count.hpp>
#include <krylith/tools/graph/graph_parts.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

template <class T>
void run_triangles(const graph_request& request, const graph<T>& g, graph_figures& f) {
    const triangle_count_options options{.per_vertex = !request.output_file.empty()};
    const auto found = run_warm(f, [&] { return triangle_count(g, options); });
    f.outcome = found;
    f.triangles = found.triangles;
    write_values(request.output_file, {found.per_vertex.begin(), found.per_vertex.end()},
                 "triangles of vertices in " + request.matrix);
}

std::string triangles_outcome(const graph_figures& f, bool /*complete*/) {
    return fmt::format("{} triangle{}", *f.triangles, *f.triangles == 1 ? "" : "s");
}

void report_triangles(const graph_request& /*request*/, const graph_figures& f,
                      nlohmann::ordered_json& to) {
    to["triangles"] = *f.triangles;
}

} // namespace

constinit const graph_method graph_rows::triangles = {
    .name = "triangles",
    .help = "number of triangles, with --output also those of each vertex",
    .start = graph_start::none,
    .options = name_list::none(),
    .run = graph_runners{run_triangles<double>, run_triangles<float>},
    .outcome = triangles_outcome,
    .report = report_triangles,
};

} // namespace krylith::tool
