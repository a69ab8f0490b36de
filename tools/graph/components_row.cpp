#include <functional>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/graph/connected_components.hpp>
#include <krylith/tools/graph/graph_parts.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

template <class T>
void run_components(const graph_request& request, const graph<T>& g, graph_figures& f) {
    const auto found = run_warm(f, [&] { return connected_components(g); });
    f.outcome = found;
    std::map<std::int64_t, std::int64_t, std::greater<>> sizes;
    for (const std::int64_t size : found.sizes) ++sizes[size];
    f.component_sizes.assign(sizes.begin(), sizes.end());
    std::vector<double> labels;
    if (!request.output_file.empty())
        for (const auto label : found.labels) labels.push_back(label + 1.0);
    write_values(request.output_file, labels,
                 "components of vertices, counted from 1, in " + request.matrix);
}

std::int64_t component_count(const graph_figures& f) {
    std::int64_t count = 0;
    for (const auto& [size, components] : f.component_sizes) count += components;
    return count;
}

std::string components_outcome(const graph_figures& f, bool /*complete*/) {
    const std::int64_t count = component_count(f);
    std::string text = fmt::format("{} connected component{}", count, count == 1 ? "" : "s");
    constexpr std::size_t listed = 5;
    for (std::size_t i = 0; i < f.component_sizes.size() && i < listed; ++i) {
        const auto& [size, components] = f.component_sizes[i];
        text += fmt::format("{}{}{}", i == 0 ? "\nvertices    " : ", ", size,
                            components == 1 ? "" : fmt::format(" ({} times)", components));
    }
    if (f.component_sizes.size() > listed) text += ", ...";
    return text;
}

void report_components(const graph_request& /*request*/, const graph_figures& f,
                       nlohmann::ordered_json& to) {
    to["components"] = component_count(f);
    to["sizes"] = nlohmann::ordered_json::array();
    for (const auto& [size, components] : f.component_sizes)
        to["sizes"].push_back({{"vertices", size}, {"components", components}});
}

} // namespace

constinit const graph_method graph_rows::components = {
    .name = "components",
    .help = "connected components, weakly connected ones of a directed graph",
    .start = graph_start::none,
    .options = name_list::none(),
    .run = graph_runners{run_components<double>, run_components<float>},
    .outcome = components_outcome,
    .report = report_components,
};

} // namespace krylith::tool
