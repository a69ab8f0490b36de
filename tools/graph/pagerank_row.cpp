#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <krylith/graph/pagerank.hpp>
#include <krylith/tools/graph/graph_parts.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

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
    write_values(request.output_file, {found.ranks.begin(), found.ranks.end()},
                 "ranks of vertices in " + request.matrix);
}

std::string pagerank_outcome(const graph_figures& f, bool complete) {
    std::string ranks;
    for (const auto& [vertex, rank] : f.highest)
        ranks += fmt::format("{}{} ({:.3g})", ranks.empty() ? "" : ", ", vertex + 1, rank);
    return fmt::format("{}: errors sum to {:.1e} or less, after {} steps\nhighest     {}",
                       complete ? "converged" : "NOT converged, steps ran out", *f.error_bound,
                       f.outcome.iterations(), ranks);
}

void report_pagerank(const graph_request& request, const graph_figures& f,
                     nlohmann::ordered_json& to) {
    to["damping"] = request.damping;
    to["tolerance"] = request.tolerance;
    to["error_bound"] = *f.error_bound;
    for (const auto& [vertex, rank] : f.highest)
        to["highest"].push_back({{"vertex", vertex + 1}, {"rank", rank}});
}

} // namespace

constinit const graph_method graph_rows::pagerank = {
    .name = "pagerank",
    .help = "ranks of vertices",
    .start = graph_start::jumps,
    .options = {"--reproducible", "--damping", "--tolerance"},
    .run = graph_runners{run_pagerank<double>, run_pagerank<float>},
    .outcome = pagerank_outcome,
    .report = report_pagerank,
};

} // namespace krylith::tool
