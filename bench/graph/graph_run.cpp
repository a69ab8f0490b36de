#include <krylith/bench/graph/graph_run.hpp>

#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/graph/graph_cases.hpp>
#include <krylith/bench/graph/graph_oracle.hpp>
#include <krylith/device/error.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::bench {

namespace {

/// The most steps of the first source that are kept.
constexpr std::size_t most_kept_steps = 400;

json steps_of(const graph_outcome& outcome) {
    json steps = json::array();
    for (const graph_step& step : outcome.steps) {
        if (steps.size() == most_kept_steps) {
            break;
        }
        json kernels = json::array();
        for (const auto used : step.kernels) {
            kernels.push_back(std::string(to_string(used)));
        }
        steps.push_back({{"entries", step.entries},
                         {"frontier_nonzeros", step.frontier_nonzeros},
                         {"kernels", kernels},
                         {"launch", step.launch},
                         {"us", step.seconds * 1e6}});
    }
    return steps;
}

/// Measures one contestant, warmed up by its checked run: alternating contestants would need the
/// memory of all at once.
json measure_runner(graph_runner& runner, const graph_request& request, json row) {
    graph_timing timing = runner.run(true);
    std::vector<double> seconds;
    const std::string wrong = timing.wrong;
    if (timing.seconds > request.limit_seconds) {
        seconds.push_back(timing.seconds);
    }
    while (std::ssize(seconds) < request.repetitions && timing.seconds <= request.limit_seconds) {
        timing = runner.run(false);
        seconds.push_back(timing.seconds);
    }
    const spread times = spread_of(seconds);
    double frontier_nonzeros = 0;
    double steps = 0;
    double choosing = 0;
    double all = 0;
    for (const graph_outcome& one : timing.outcomes) {
        frontier_nonzeros += static_cast<double>(one.frontier_nonzeros());
        steps += static_cast<double>(one.iterations());
        all += one.seconds;
        for (const graph_step& step : one.steps) {
            choosing += step.select_seconds;
        }
    }
    const auto outcomes = static_cast<double>(timing.outcomes.size());
    row["ms"] = to_json(times, 1e3);
    row["steps"] = steps / outcomes;
    row["frontier_nonzeros"] = frontier_nonzeros / outcomes;
    row["gteps"] = frontier_nonzeros / outcomes / times.median * 1e-9;
    row["choosing"] = all > 0 ? choosing / all : 0;
    row["void_because"] = wrong.empty() ? json::array() : json::array({wrong});
    if (row["contestant"] == "adaptive" || row["contestant"] == "cusparse") {
        row["by_step"] = steps_of(timing.outcomes.front());
    }
    return row;
}

/// Rates all searches by the edges out of what they reach: cuSPARSE goes over all edges on each
/// level, which is no merit.
void rate_searches_alike(std::vector<json>& rows) {
    const auto adaptive = std::ranges::find_if(rows, [](const json& row) {
        return row["contestant"] == "adaptive" && row.contains("ms");
    });
    for (json& row : rows) {
        if (row["contestant"] != "cusparse" || !row.contains("ms")) {
            continue;
        }
        row["gteps"] = adaptive == rows.end() ? 0.0
                                              : (*adaptive)["frontier_nonzeros"].get<double>() /
                                                    row["ms"]["median"].get<double>() * 1e-6;
    }
}

std::string table_lines(const json& row) {
    if (row.contains("losses")) {
        return oracle_line(row);
    }
    const std::string begin =
        fmt::format("{:<26} {:<8} {:>2} {:<24} ", tool::one_line(row["matrix"].get<std::string>()),
                    row["algorithm"].get<std::string>(), row["devices"].get<int>(),
                    row["contestant"].get<std::string>());
    if (!row.contains("ms")) {
        return begin + row["void_because"][0].get<std::string>() + "\n";
    }
    std::string speedups;
    if (row.contains("speedup")) {
        for (const auto& [over, factor] : row["speedup"].items()) {
            speedups += fmt::format("  {:.2f}x {}", factor.get<double>(), over);
        }
    }
    std::string lines = fmt::format("{}{:>10.3f} ms {:>7.0f} steps {:>8.3f} GTEPS{}{}\n", begin,
                                    row["ms"]["median"].get<double>(), row["steps"].get<double>(),
                                    row["gteps"].get<double>(),
                                    row["void_because"].empty() ? "" : "  VOID", speedups);
    for (const json& why : row["void_because"]) {
        lines += fmt::format("    void: {}\n", why.get<std::string>());
    }
    return lines;
}

} // namespace

graph_run::graph_run(const graph_request& request)
    : request_((request.check(), request)),
      choice_(choose_devices(request.devices, request.counts)),
      report_("graph", request.report_file) {
    report_.describe_devices(choice_);
    report_.set_option("algorithms", request_.algorithms);
    report_.set_option("thresholds", request_.thresholds);
    report_.set_option("sources", request_.sources);
    report_.set_option("tolerance", request_.tolerance);
    report_.set_option("repetitions", request_.repetitions);
    report_.set_option("precision", "fp32");
    report_.set_option("oracle", request_.oracle);
}

bool graph_run::run() {
    report_.say(
        fmt::format("{}\n", fmt::join(descriptions(choice_.group(choice_.counts.back())), ", ")));
    for (const spmv_case& c : request_.cases()) {
        try {
            run_case(c);
        } catch (const input_error& e) {
            if (request_.matrices.empty()) {
                report_.skip(c.matrix, e.what());
            } else {
                report_.refuse(c.matrix, e.what());
            }
        } catch (const device_error& e) {
            report_.skip(c.matrix, e.what());
        } catch (const std::bad_alloc&) {
            report_.skip(c.matrix, "the host's memory is too small for it");
        }
    }
    const json summary = request_.oracle ? oracle_summary(rows_) : graph_summary(rows_);
    report_.summarise(summary);
    for (const json& line : summary) {
        report_.say(line.dump() + "\n");
    }
    return report_.finish();
}

void graph_run::run_case(const spmv_case& c) {
    const csr_matrix<float> matrix = load_graph<float>(c.matrix);
    for (const int devices : choice_.counts) {
        for (const std::string& algorithm : request_.algorithms) {
            run_algorithm(c, matrix, algorithm, devices);
        }
    }
}

void graph_run::run_algorithm(const spmv_case& c, const csr_matrix<float>& matrix,
                              const std::string& algorithm, int devices) {
    const graph<float> g(choice_.group(devices), csr_view<float>(matrix));
    graph_task task{algorithm, &matrix, {}, request_.tolerance};
    if (algorithm != "pagerank") {
        task.sources = pick_sources(matrix, request_.sources);
        if (task.sources.empty()) {
            return report_.skip(c.matrix, algorithm + ": no vertex has an edge");
        }
    }
    std::vector<json> rows;
    const bool cusparse = choice_.kind == backend::cuda && devices == 1;
    const auto contestants =
        request_.oracle
            ? std::vector{graph_oracle(request_.repetitions)}
            : graph_contestants(request_.thresholds, !request_.without_kernels, cusparse);
    for (const auto& contestant : contestants) {
        json row = {{"matrix", c.matrix},
                    {"family", c.family},
                    {"size", c.size},
                    {"n", g.vertices()},
                    {"nnz", g.edges()},
                    {"algorithm", algorithm},
                    {"backend", to_string(choice_.kind)},
                    {"devices", devices},
                    {"contestant", contestant.name}};
        if (contestant.threshold) {
            row["threshold"] = *contestant.threshold;
        }
        try {
            const auto runner = make_runner(contestant, g, task);
            if (runner == nullptr) {
                continue;
            }
            row = request_.oracle ? judge_choices(runner->run(true), row)
                                  : measure_runner(*runner, request_, row);
        } catch (const device_error& e) { // memory was short
            row["void_because"] = json::array({std::string(e.what())});
        }
        rows.push_back(std::move(row));
    }
    if (algorithm == "bfs") {
        rate_searches_alike(rows);
    }
    add_graph_speedups(rows);
    for (json& row : rows) {
        report_.say(table_lines(row));
        report_.add(row);
        rows_.push_back(std::move(row));
    }
}

} // namespace krylith::bench
