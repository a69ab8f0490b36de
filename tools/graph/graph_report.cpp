#include <krylith/tools/graph/graph_run.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <krylith/config.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/graph/graph_table.hpp>

namespace krylith::tool {

namespace {

constexpr std::size_t most_lines = 12; ///< of steps in the summary

/// "row", or where devices differ "row+column-sort"; of walked levels "persistent".
std::string kernels_of(const graph_step& step) {
    if (step.launch != 0) return "persistent";
    std::vector<std::string_view> names;
    for (const auto used : step.kernels)
        if (std::ranges::find(names, to_string(used)) == names.end())
            names.push_back(to_string(used));
    return fmt::format("{}", fmt::join(names, "+"));
}

json step_as_json(const graph_step& step) {
    json kernels = json::array();
    for (const auto used : step.kernels) kernels.push_back(std::string(to_string(used)));
    return {{"entries", step.entries},
            {"frontier_nonzeros", step.frontier_nonzeros},
            {"kernels", kernels},
            {"launch", step.launch},
            {"sent", to_string(step.sent)},
            {"seconds", step.seconds},
            {"select_seconds", step.select_seconds}};
}

std::vector<std::int64_t> from_one(std::vector<std::int64_t> vertices) {
    for (auto& vertex : vertices) ++vertex;
    return vertices;
}

std::string what_ran(const graph_request& request, const graph_figures& f) {
    const graph_start start = graph_named(request.algorithm).start;
    if (start == graph_start::none)
        return request.algorithm + ", edges taken whichever way they go";
    const std::string kernels = request.kernel == "adaptive"
                                    ? "kernels by the model '" + f.model + "'"
                                    : "kernel " + request.kernel + " (as asked for)";
    const std::string sources = f.sources.empty() ? "jumps to all vertices"
                                : start == graph_start::jumps
                                    ? fmt::format("jumps to {} of the vertices", f.sources.size())
                                    : fmt::format("from vertex {}", f.sources.front() + 1);
    const bool alone = f.outcome.devices == 1 && f.devices.size() > 1;
    return fmt::format("{}, {}, {}, {}{}", request.algorithm, sources, request.precision, kernels,
                       alone ? ", on the first device, where a level takes no exchange" : "");
}

/// A line for each run of steps with the same kernels, or of walked levels.
std::string by_steps(const graph_outcome& outcome) {
    std::string text;
    std::size_t lines = 0;
    for (std::size_t i = 0; i < outcome.steps.size();) {
        const std::size_t first = i;
        std::string kernels = kernels_of(outcome.steps[i]);
        const std::int32_t first_launch = outcome.steps[i].launch;
        graph_step sum;
        for (; i < outcome.steps.size() && kernels_of(outcome.steps[i]) == kernels; ++i) {
            sum.entries += outcome.steps[i].entries;
            sum.frontier_nonzeros += outcome.steps[i].frontier_nonzeros;
            sum.seconds += outcome.steps[i].seconds;
        }
        if (first_launch != 0) {
            const auto launches = outcome.steps[i - 1].launch - first_launch + 1;
            kernels = first + 1 == i  ? "level in one launch"
                      : launches == 1 ? "levels in one launch"
                                      : fmt::format("levels in {} launches", launches);
        }
        if (++lines > most_lines) {
            text += fmt::format("            ... {} more steps, see --report\n",
                                outcome.steps.size() - first);
            break;
        }
        const std::string steps =
            first + 1 == i ? fmt::format("{}", i) : fmt::format("{}-{}", first + 1, i);
        text += fmt::format("{:<11} {:<33} {} vertices, {} edges, {}\n", lines == 1 ? "steps" : "",
                            steps + " " + kernels, sum.entries, sum.frontier_nonzeros,
                            in_seconds(sum.seconds));
    }
    return text;
}

} // namespace

std::string json_report(const graph_request& request, const graph_figures& f) {
    const bool walks = graph_named(request.algorithm).start != graph_start::none;
    json report = {{"schema_version", report_schema},
                   {"version", KRYLITH_VERSION},
                   {"algorithm", request.algorithm},
                   {"matrix", {{"name", request.matrix}, {"rows", f.vertices}, {"nnz", f.edges}}},
                   {"sources", from_one(f.sources)},
                   {"kernel", walks ? json(request.kernel) : json()},
                   {"model", f.model.empty() ? json() : json(f.model)},
                   {"reproducible", request.reproducible},
                   {"precision", request.precision},
                   {"backend", to_string(f.kind)},
                   {"devices", f.devices},
                   {"devices_used", f.outcome.devices},
                   {"load_seconds", f.load_seconds},
                   {"setup_seconds", f.setup_seconds},
                   {"seconds", f.outcome.seconds},
                   {"reason", to_string(f.outcome.reason)},
                   {"iterations", f.outcome.iterations()},
                   {"frontier_nonzeros", f.outcome.frontier_nonzeros()},
                   {"gteps", f.outcome.gteps()}};
    graph_named(request.algorithm).report(request, f, report);
    report["steps"] = json::array();
    for (const graph_step& step : f.outcome.steps) report["steps"].push_back(step_as_json(step));
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string summary(const graph_request& request, const graph_figures& f) {
    std::string text;
    const auto line = [&](const char* name, const std::string& content) {
        text += fmt::format("{:<11} {}\n", name, content);
    };
    line("matrix",
         fmt::format("{}: {} vertices, {} edges", one_line(request.matrix), f.vertices, f.edges));
    line("devices", fmt::format("{}: {}", f.devices.size(), fmt::join(f.devices, "; ")));
    line("algorithm", what_ran(request, f));
    line("outcome",
         graph_named(request.algorithm).outcome(f, f.outcome.reason != graph_reason::max_steps));
    if (f.outcome.steps.empty()) {
        line("time", in_seconds(f.outcome.seconds));
        return text;
    }
    double choosing = 0;
    for (const graph_step& step : f.outcome.steps) choosing += step.select_seconds;
    line("time", fmt::format("{}, {} edges walked along, {:.3g} GTEPS; choosing kernels {:.1f}%",
                             in_seconds(f.outcome.seconds), f.outcome.frontier_nonzeros(),
                             f.outcome.gteps(),
                             f.outcome.seconds > 0 ? 100 * choosing / f.outcome.seconds : 0.0));
    return text + by_steps(f.outcome);
}

} // namespace krylith::tool
