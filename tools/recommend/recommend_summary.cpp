#include <krylith/tools/recommend/recommend_run.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <krylith/config.hpp>
#include <krylith/tools/cli/printable.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/report/convergence_plot.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

namespace {

/// In the order of verdicts, each by time.
std::vector<std::size_t> ranking(const std::vector<trial>& trials) {
    std::vector<std::size_t> order(trials.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
        const trial& a = trials[i];
        const trial& b = trials[j];
        return a.outcome != b.outcome ? a.outcome < b.outcome
                                      : a.expected_seconds < b.expected_seconds;
    });
    return order;
}

const char* to_string(verdict outcome) {
    switch (outcome) {
    case verdict::converged: return "converged";
    case verdict::converging: return "converging";
    case verdict::unfinished: return "unfinished";
    case verdict::failed: return "failed";
    }
    return "unknown";
}

/// ", 2 ms of it to make amg" where that is much of the time.
std::string of_it_making(const trial& t) {
    if (t.making_seconds < 0.1 * t.expected_seconds) return {};
    return fmt::format(", {} of it to make {}", in_seconds(t.making_seconds),
                       t.method.preconditioner);
}

std::string expectation(const trial& t) {
    switch (t.outcome) {
    case verdict::converged:
        return fmt::format("converged in {}", in_seconds(t.expected_seconds)) + of_it_making(t);
    case verdict::converging:
        return fmt::format("would take about {} iterations, {}", t.expected_iterations,
                           in_seconds(t.expected_seconds)) +
               of_it_making(t);
    case verdict::unfinished: return "not finished in the time: " + t.words;
    case verdict::failed: return "failed: " + t.words;
    }
    return {};
}

std::string method_table(const recommendation& r) {
    std::size_t width = 30;
    for (const trial& t : r.trials) width = std::max(width, name_of(t.method).size() + 2);
    std::string out = fmt::format("\n{:<{}} {:>10} {:>10}  {}\n", "method", width, "iterations",
                                  "residual", "outcome");
    for (const std::size_t k : ranking(r.trials)) {
        const trial& t = r.trials[k];
        out += fmt::format("{:<{}} {:>10} {:>10.1e}  {}\n",
                           (r.chosen == k ? "* " : "  ") + name_of(t.method), width, t.iterations,
                           t.relative_residual, expectation(t));
    }
    for (const std::string& what : r.plan.left_out) out += "  not tried: " + what + "\n";
    return out;
}

std::string placement_table(const recommendation& r) {
    if (r.placements.size() < 2) return {};
    std::string out = fmt::format("\n{:<10} {:<10} {:<8} {:>14}\n", "devices", "operator", "format",
                                  "an iteration");
    for (std::size_t k = 0; k < r.placements.size(); ++k) {
        const placement_trial& p = r.placements[k];
        out +=
            fmt::format("{:<10} {:<10} {:<8} {:>14}\n",
                        fmt::format("{}{}", r.placed == k ? "* " : "  ", p.devices),
                        p.devices == 1 ? "-" : p.operator_name, p.format_name,
                        p.run.outcome == verdict::failed ? p.run.words
                                                         : in_seconds(p.run.seconds_an_iteration));
    }
    return out;
}

std::string why(const recommendation& r) {
    const trial& best = r.trials[*r.chosen];
    std::string text = name_of(best.method) + ": " + best.method.because + ". ";
    if (best.outcome == verdict::converging)
        text += fmt::format("Not converged in the time given; the residual fell to {:.1e} and "
                            "still falls: about {} in all.",
                            best.relative_residual, in_seconds(best.expected_seconds));
    else
        text += fmt::format("Converged in {} iterations, {}{}.", best.iterations,
                            in_seconds(best.expected_seconds), of_it_making(best));
    if (ranking(r.trials).front() != *r.chosen)
        text += " No more than 15% or 1 ms slower than the fastest, and simpler.";
    if (r.placed && r.placements.size() > 1)
        text += fmt::format(" Of {} placements this is the fastest, or the simplest within 15% of "
                            "it.",
                            r.placements.size());
    return text;
}

std::size_t unfinished(const recommendation& r) {
    return static_cast<std::size_t>(
        std::ranges::count(r.trials, verdict::unfinished, &trial::outcome));
}

/// What trials would have needed: a few times the time mostly does, all iterations always do.
std::string more_time(const recommend_request& request, const recommendation& r) {
    const double few = std::ceil(4 * request.seconds);
    const double all = std::ceil(r.seconds_for_all);
    if (all <= few) return fmt::format("--seconds {}", std::max(all, std::ceil(request.seconds)));
    return fmt::format("--seconds {} ({} s would take them all to their last iteration)", few, all);
}

std::string verdict_line(const recommend_request& request, const recommendation& r) {
    if (unfinished(r) == 0) return "nothing that krylith has converges on this system.";
    return fmt::format("nothing converged in {} s, and {} of {} methods were not finished, with no "
                       "verdict on them. Give them more time: {}.",
                       request.seconds, unfinished(r), r.trials.size(), more_time(request, r));
}

json trial_as_json(const trial& t) {
    const bool finite = t.outcome == verdict::converged || t.outcome == verdict::converging;
    return {{"solver", t.method.solver},
            {"preconditioner", t.method.preconditioner},
            {"side", to_string(t.method.side)},
            {"restart", t.method.restart},
            {"match_rows", t.method.match_rows},
            {"because", t.method.because},
            {"outcome", to_string(t.outcome)},
            {"failure", t.words},
            {"iterations", t.iterations},
            {"seconds", t.seconds},
            {"preconditioner_seconds", t.making_seconds},
            {"seconds_per_iteration", t.seconds_an_iteration},
            {"relative_true_residual", t.relative_residual},
            {"expected_iterations", finite ? json(t.expected_iterations) : json()},
            {"expected_seconds", finite ? json(t.expected_seconds) : json()}};
}

} // namespace

std::string summary(const recommend_request& request, const recommendation& r) {
    const matrix_statistics& s = r.statistics;
    std::string out = named_line(
        "matrix", fmt::format("{}: {} rows, {} nonzeros", request.solve.matrix, s.rows, s.nnz()));
    out += named_line("kind", r.kind.words);
    for (const std::string& hint : r.kind.hints) out += named_line("", hint);
    out += method_table(r) + placement_table(r) + "\n";
    for (const std::string& warning : r.warnings) out += named_line("warning", warning);
    if (!r.found()) {
        out += named_line("verdict", verdict_line(request, r));
        if (unfinished(r) > 0) out += named_line("", "Should they fail too:");
        for (const std::string& words : what_is_missing(r)) out += named_line("", words);
        return out;
    }
    out += named_line("why", why(r));
    if (unfinished(r) > 0 && r.trials[*r.chosen].outcome != verdict::converged)
        out +=
            named_line("", fmt::format("Not finished in the time: {} of {} methods, which may be "
                                       "faster. Give them more: {}.",
                                       unfinished(r), r.trials.size(), more_time(request, r)));
    return out + "\n    " + one_line(command_line(request, r)) + "\n";
}

std::string json_report(const recommend_request& request, const recommendation& r) {
    const matrix_statistics& s = r.statistics;
    json report;
    report["schema_version"] = report_schema;
    report["version"] = KRYLITH_VERSION;
    report["matrix"] = {
        {"name", request.solve.matrix}, {"rows", s.rows}, {"columns", s.columns}, {"nnz", s.nnz()}};
    report["class"] = to_string(r.kind.what);
    report["class_words"] = r.kind.words;
    report["hints"] = r.kind.hints;
    report["rhs"] = request.solve.rhs;
    report["rtol"] = request.solve.options.rtol.value_or(default_rtol<double>());
    report["atol"] = request.solve.options.atol;
    report["seconds_allowed"] = request.seconds;
    report["seconds"] = r.seconds;
    report["seconds_for_all"] = r.seconds_for_all;
    report["trials"] = json::array();
    for (const std::size_t k : ranking(r.trials)) {
        json row = trial_as_json(r.trials[k]);
        row["chosen"] = r.chosen == k;
        report["trials"].push_back(row);
    }
    report["left_out"] = r.plan.left_out;
    report["placements"] = json::array();
    for (std::size_t k = 0; k < r.placements.size(); ++k) {
        const placement_trial& p = r.placements[k];
        report["placements"].push_back({{"devices", p.devices},
                                        {"operator", p.operator_name},
                                        {"format", p.format_name},
                                        {"automatic", p.automatic},
                                        {"outcome", to_string(p.run.outcome)},
                                        {"failure", p.run.words},
                                        {"iterations", p.run.iterations},
                                        {"seconds_per_iteration", p.run.seconds_an_iteration},
                                        {"chosen", r.placed == k}});
    }
    report["found"] = r.found();
    report["command"] = r.found() ? json(command_line(request, r)) : json();
    report["why"] = r.found() ? json(why(r)) : json();
    report["missing"] = r.found() ? json::array() : json(what_is_missing(r));
    report["warnings"] = r.warnings;
    return report.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string plot(const recommend_request& request, const recommendation& r) {
    std::vector<convergence_curve> curves;
    for (const std::size_t k : ranking(r.trials)) {
        const trial& t = r.trials[k];
        if (t.history.empty()) continue;
        curves.push_back({.title = name_of(t.method) + (r.chosen == k ? ", the fastest" : ""),
                          .history = t.history,
                          .rhs_norm = t.rhs_norm,
                          .target = t.target,
                          .true_residual = t.relative_residual * t.rhs_norm});
    }
    const std::string& name = request.solve.matrix;
    return svg("Methods on " + name.substr(name.rfind('/') + 1), curves);
}

} // namespace krylith::tool
