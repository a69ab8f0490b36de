// What `krylith recommend` does: statistics, trials of methods, trials of placements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krylith/tools/recommend/recommend_trial.hpp>

namespace krylith::tool {

struct recommend_request {
    solve_request solve;     ///< matrix, rhs, tolerances, devices
    double seconds = 10;     ///< for all trials together
    std::vector<int> counts; ///< numbers of devices, the first for the trials of methods
};

/// One way to lie on devices, tried with the method that won.
struct placement_trial {
    int devices = 1;
    std::string operator_name;
    std::string format_name;
    bool automatic = false; ///< what `auto` would take
    trial run;
};

struct recommendation {
    matrix_statistics statistics;
    classification kind;
    candidates plan;
    std::vector<trial> trials; ///< in the order of the plan
    std::optional<std::size_t> chosen;
    std::vector<placement_trial> placements;
    std::optional<std::size_t> placed;
    std::vector<std::string> warnings;
    bool constants_vanish = false; ///< A times ones is 0 up to rounding
    double seconds_for_all = 0;    ///< in which no trial would be unfinished; 0: none is
    double seconds = 0;            ///< of everything behind the reading of the matrix

    [[nodiscard]] bool found() const { return chosen.has_value(); }
};

/// Of the trials that converged, else of those that converge, the first whose expected time is
/// within 15% and 1 ms of the least: timings vary by as much, so that simpler methods win ties.
/// None if all failed or are unfinished.
[[nodiscard]] std::optional<std::size_t> choose(const std::vector<trial>& trials);

/// Throws input_error for a matrix that isn't square, usage_error for options.
[[nodiscard]] recommendation recommend(const recommend_request& request);

/// The command line that solves the system as chosen. Needs found().
[[nodiscard]] std::string command_line(const recommend_request& request, const recommendation& r);

/// What is missing where nothing converges, in words, one a line.
[[nodiscard]] std::vector<std::string> what_is_missing(const recommendation& r);

[[nodiscard]] std::string summary(const recommend_request& request, const recommendation& r);
[[nodiscard]] std::string json_report(const recommend_request& request, const recommendation& r);

/// The convergence curves of all trials in one SVG, the fastest first.
[[nodiscard]] std::string plot(const recommend_request& request, const recommendation& r);

} // namespace krylith::tool
