// krylith graph ALGORITHM MATRIX
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <krylith/device/error.hpp>
#include <krylith/tools/cli/command.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/kernel_choice.hpp>
#include <krylith/tools/cli/names.hpp>
#include <krylith/tools/cli/operator_request.hpp>
#include <krylith/tools/cli/output_file.hpp>
#include <krylith/tools/cli/shared_options.hpp>
#include <krylith/tools/graph/graph_run.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

struct graph_job {
    graph_request request;
    std::string report;
    bool quiet = false;
};

exit_status run_graph_job(const graph_job& job) {
    check_outputs({vector_output("--output", job.request.output_file),
                   vector_output("--parents", job.request.parents_file),
                   {"--report", job.report, {".json"}}},
                  {{"MATRIX", job.request.matrix}});
    const operator_request numbers{.precision = job.request.precision};
    const graph_figures f =
        numbers.single_precision() ? run_graph<float>(job.request) : run_graph<double>(job.request);
    if (!job.report.empty()) write_text(job.report, json_report(job.request, f));
    if (!job.quiet) print(job.report == "-" ? stderr : stdout, summary(job.request, f));
    return f.outcome.reason == graph_reason::max_steps ? exit_status::not_converged
                                                       : exit_status::success;
}

void refuse_options_of_others(const CLI::App& given, const std::string& algorithm) {
    const graph_method& method = graph_named(algorithm);
    if (method.start == graph_start::none)
        for (const std::string option : {"--source", "--kernel", "--max-steps"})
            if (given.count(option) != 0)
                throw usage_error(option + " is not for " + algorithm +
                                  ", which takes no steps from vertex to vertex");
    for (const graph_method* other : graph_algorithms)
        for (const std::string_view option : other->options)
            if (given.count(std::string(option)) != 0 && !takes(method, option))
                throw usage_error(fmt::format("{} is for {}, not for {}", option,
                                              static_cast<std::string_view>(other->name),
                                              algorithm));
}

/// "bfs: levels from a vertex; pagerank: ranks of vertices".
std::string algorithm_help() {
    std::string text;
    for (const graph_method* method : graph_algorithms)
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ",
                            static_cast<std::string_view>(method->name),
                            static_cast<std::string_view>(method->help));
    return text + ". Every stored entry a_ij is an edge from i to j";
}

} // namespace

command add_graph(CLI::App& parent) {
    CLI::App* app = parent.add_subcommand(
        "graph", "Search the graph of a matrix: breadth-first search, PageRank, shortest paths, "
                 "connected components, triangles");
    auto job = std::make_shared<graph_job>();
    graph_request& request = job->request;
    const auto add = [&](const char* name, auto& value, const std::string& type,
                         const std::string& help) {
        return app->add_option(name, value, help)->type_name(type);
    };
    add("ALGORITHM", request.algorithm, alternatives(graph_names()), algorithm_help())->required();
    add_matrix(*app, request.matrix);
    add("--source", request.source, "S",
        "Vertex to start at, counted from 1 as the rows of a file are; 1 if none is given. "
        "pagerank: where jumps lead, S,S,... if several; else to all vertices");
    add("--kernel", request.kernel, kernel_choices(),
        "Of products: chosen for each step (adaptive), or always the same")
        ->capture_default_str();
    app->add_flag("--reproducible", request.reproducible,
                  "pagerank: the same bits every time, by kernels that keep the order of sums");
    add("--damping", request.damping, "D", "pagerank: how likely an edge is followed, not a jump")
        ->capture_default_str();
    add("--tolerance", request.tolerance, "T",
        "pagerank: bound on the sum of the ranks' errors to reach")
        ->capture_default_str();
    add("--level-limit", request.level_limit, "N",
        "bfs on one device: edges up to which levels are walked, many in one launch, instead of "
        "multiplied by chosen kernels; 0: never; without: as suits the device");
    add("--max-steps", request.max_steps, "N",
        "Most products; -1: 1000 for pagerank, no limit for the others")
        ->capture_default_str();
    add("--precision", request.precision, alternatives(precision_names),
        "Of weights, distances and ranks")
        ->capture_default_str();
    add_device_options(*app, request.devices);
    add("--output", request.output_file, "FILE",
        vector_output_help("Levels, ranks or distances (-1: not reached), or for each vertex the "
                           "number of its component or of its triangles"))
        ->group("Output");
    add("--parents", request.parents_file, "FILE",
        "bfs: the vertices before, counted from 1; -1: none")
        ->group("Output");
    add_report(*app, job->report);
    app->add_flag("--quiet", job->quiet, "No summary; status 1 says that steps ran out")
        ->group("Output");
    return {app, [app, job] {
                refuse_options_of_others(*app, job->request.algorithm);
                return run_graph_job(*job);
            }};
}

} // namespace krylith::tool
