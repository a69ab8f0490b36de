#include <krylith/tools/graph/graph_run.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/graph/graph.hpp>
#include <krylith/matrix/load.hpp>
#include <krylith/tools/cli/index_list.hpp>
#include <krylith/tools/cli/kernel_choice.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/stopwatch.hpp>
#include <krylith/tools/graph/graph_parts.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

std::vector<std::int64_t> parse_sources(std::string_view text, std::int64_t vertices) {
    return parse_indices("--source", text, "vertices", vertices);
}

std::vector<std::int64_t> sources_of(const graph_request& request, std::int64_t vertices) {
    const graph_start start = graph_named(request.algorithm).start;
    if (start == graph_start::none) return {};
    const bool jumps = start == graph_start::jumps;
    if (vertices == 0 && !jumps)
        throw input_error(request.matrix + " has no vertices: " + request.algorithm +
                          " starts at one");
    auto sources = parse_sources(request.source, vertices);
    if (jumps) return sources;
    if (sources.size() > 1)
        throw usage_error("--source is '" + request.source + "': " + request.algorithm +
                          " starts at one vertex");
    if (sources.empty()) sources = parse_sources("1", vertices);
    return sources;
}

void check(const graph_request& request) {
    const graph_method& method = graph_named(request.algorithm);
    if (!request.parents_file.empty() && !takes(method, "--parents"))
        throw usage_error("--parents is not for " + request.algorithm + ", which has none");
    if (request.level_limit && *request.level_limit < 0)
        throw usage_error(
            fmt::format("--level-limit is {}: allowed are 0 and more", *request.level_limit));
    if (request.max_steps == 0 || request.max_steps < -1)
        throw usage_error(
            fmt::format("--max-steps is {}: allowed are 1 and more, and -1", request.max_steps));
}

} // namespace

bool takes(const graph_method& method, std::string_view option) {
    return std::ranges::find(method.options, option) != method.options.end();
}

std::vector<std::string_view> graph_names() {
    std::vector<std::string_view> names;
    for (const graph_method* method : graph_algorithms) names.emplace_back(method->name);
    return names;
}

const graph_method& graph_named(std::string_view name) {
    check_name("algorithm", name, graph_names());
    return **std::ranges::find(graph_algorithms, name,
                               [](const graph_method* method) { return method->name; });
}

spmspv::adaptive_options kernels_of(const graph_request& request) {
    return kernels_named(request.kernel, request.reproducible);
}

void write_values(const std::string& file, const std::vector<double>& values,
                  const std::string& what) {
    if (!file.empty()) save_vector<double>(file, values, what);
}

std::string vertices_reached(const graph_figures& f, bool complete, const std::string& extent) {
    return fmt::format("{}{} of {} vertices reached, {}, in {} steps",
                       complete ? "" : "NOT complete, steps ran out: ", f.reached, f.vertices,
                       extent, f.outcome.iterations());
}

template <class T>
graph_figures run_graph(const graph_request& request) {
    check(request);
    (void)kernels_of(request); // a wrong name is found before the matrix is read
    const device_group group = select_devices(request.devices);
    graph_figures f;
    f.kind = group.kind();
    f.devices = descriptions(group);
    stopwatch watch;
    const csr_matrix<T> matrix = load_square<T>(request.matrix, false);
    f.vertices = matrix.rows;
    f.edges = matrix.nnz();
    f.load_seconds = watch.lap();
    f.sources = sources_of(request, matrix.rows);
    const graph<T> g(group, csr_view<T>(matrix));
    group.synchronize();
    f.setup_seconds = watch.lap();
    graph_named(request.algorithm).run.get().template of<T>()(request, g, f);
    return f;
}

template graph_figures run_graph<double>(const graph_request&);
template graph_figures run_graph<float>(const graph_request&);

} // namespace krylith::tool
