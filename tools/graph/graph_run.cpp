#include <krylith/tools/graph/graph_run.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/graph/bfs.hpp>
#include <krylith/graph/pagerank.hpp>
#include <krylith/graph/shortest_paths.hpp>
#include <krylith/matrix/matrix_market.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

namespace {

/// "3,7" as vertices from 0.
std::vector<std::int64_t> parse_sources(const std::string& text, std::int64_t vertices) {
    std::vector<std::int64_t> sources;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t comma = rest.find(',');
        const std::string_view part = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        std::int64_t number = 0;
        const auto [stop, code] = std::from_chars(part.data(), part.data() + part.size(), number);
        if (code != std::errc() || stop != part.data() + part.size() || number < 1 ||
            number > vertices)
            throw usage_error(fmt::format("--source is '{}': allowed are vertices 1 to {}, counted "
                                          "from 1 as rows of the file are",
                                          text, vertices));
        sources.push_back(number - 1);
    }
    return sources;
}

std::vector<std::int64_t> sources_of(const graph_request& request, std::int64_t vertices) {
    if (vertices == 0 && request.algorithm != "pagerank")
        throw input_error(request.matrix + " has no vertices: " + request.algorithm +
                          " starts at one");
    auto sources = parse_sources(request.source, vertices);
    if (request.algorithm == "pagerank") return sources;
    if (sources.size() > 1)
        throw usage_error("--source is '" + request.source + "': " + request.algorithm +
                          " starts at one vertex, pagerank alone takes several");
    if (sources.empty()) sources = parse_sources("1", vertices);
    return sources;
}

spmspv::adaptive_options kernels_of(const graph_request& request) {
    spmspv::adaptive_options options{.reproducible = request.reproducible};
    if (request.kernel == "adaptive") return options;
    std::vector<std::string_view> names = {"adaptive"};
    names.insert(names.end(), spmspv::kernel_names.begin(), spmspv::kernel_names.end());
    check_name("kernel", request.kernel, names);
    options.fixed = spmspv::parse_kernel(request.kernel);
    return options;
}

void check(const graph_request& request) {
    check_name("algorithm", request.algorithm, graph_algorithms);
    if (!request.parents_file.empty() && request.algorithm != "bfs")
        throw usage_error("--parents is for bfs: " + request.algorithm + " has none");
    if (request.level_limit && *request.level_limit < 0)
        throw usage_error(
            fmt::format("--level-limit is {}: allowed are 0 and more", *request.level_limit));
    if (request.max_steps == 0 || request.max_steps < -1)
        throw usage_error(
            fmt::format("--max-steps is {}: allowed are 1 and more, and -1", request.max_steps));
}

/// Runs it, on GPUs after a run that loads kernels and finds memory.
template <class Algorithm>
auto run_warm(const graph_figures& f, const Algorithm& algorithm) {
    if (f.kind == backend::cuda) (void)algorithm();
    return algorithm();
}

template <class Run>
void note_model(const graph_request& request, graph_figures& f, const Run& run) {
    if (request.kernel == "adaptive" && run.model() != nullptr) f.model = run.model()->name;
}

void write(const std::string& file, const std::vector<double>& values, const std::string& what) {
    if (!file.empty()) write_vector_market<double>(file, values, what);
}

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
    write(request.output_file, {found.levels.begin(), found.levels.end()},
          fmt::format("levels of vertices from vertex {} in {}, -1: not reached",
                      f.sources.front() + 1, request.matrix));
    std::vector<double> parents;
    for (const auto parent : found.parents) parents.push_back(parent < 0 ? -1 : parent + 1.0);
    write(request.parents_file, parents,
          fmt::format("parents, counted from 1, from vertex {} in {}, -1: none",
                      f.sources.front() + 1, request.matrix));
}

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
    write(request.output_file, values,
          fmt::format("distances from vertex {} in {}, -1: not reached", f.sources.front() + 1,
                      request.matrix));
}

template <class T>
void run_pagerank(const graph_request& request, const graph<T>& g, graph_figures& f) {
    pagerank_options options{.damping = request.damping,
                             .tolerance = request.tolerance,
                             .sources = f.sources,
                             .kernels = kernels_of(request)};
    if (request.max_steps > 0) options.max_steps = request.max_steps;
    pagerank_iteration<T> iteration(g, options);
    const auto found = run_warm(f, [&] { return iteration(); });
    note_model(request, f, iteration);
    f.outcome = found;
    f.error_bound = found.error_bound;
    std::vector<std::int64_t> order(found.ranks.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto rank_of = [&](std::int64_t v) { return found.ranks[static_cast<std::size_t>(v)]; };
    const auto few = order.begin() + std::min<std::ptrdiff_t>(5, std::ssize(order));
    std::partial_sort(order.begin(), few, order.end(), [&](std::int64_t a, std::int64_t b) {
        return rank_of(a) != rank_of(b) ? rank_of(a) > rank_of(b) : a < b;
    });
    for (auto v = order.begin(); v != few; ++v) f.highest.emplace_back(*v, rank_of(*v));
    write(request.output_file, {found.ranks.begin(), found.ranks.end()},
          "ranks of vertices in " + request.matrix);
}

} // namespace

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
    if (request.algorithm == "bfs") run_bfs(request, g, f);
    if (request.algorithm == "sssp") run_sssp(request, g, f);
    if (request.algorithm == "pagerank") run_pagerank(request, g, f);
    return f;
}

template graph_figures run_graph<double>(const graph_request&);
template graph_figures run_graph<float>(const graph_request&);

} // namespace krylith::tool
