// One line of a terminal that says how far a solve has come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <krylith/solvers/options/solve_callback.hpp>
#include <krylith/tools/cli/stopwatch.hpp>

namespace krylith::tool {

/// How a solve goes on, from what it has reported so far.
class solve_forecast {
public:
    /// Call it with each report, at `seconds` since the start.
    void add(double seconds, const progress& now);

    /// Iterations a second, lately; 0: not known yet.
    [[nodiscard]] double iterations_a_second() const;
    /// Seconds until the residual is at the target if its logarithm goes on falling as it did in
    /// the last half of the iterations; nothing where it didn't fall.
    [[nodiscard]] std::optional<double> seconds_left() const;

private:
    struct sample {
        double seconds;
        std::int64_t iteration;
        double logarithm; ///< of the residual
    };
    /// The sample to compare the last one with.
    [[nodiscard]] const sample& earlier() const;

    std::vector<sample> samples_; ///< at most 50 a second
    double target_ = 0;           ///< its logarithm
};

/// Writes the line to standard error after half a second, again five times a second, and removes it
/// in the end. It does nothing where standard error is no terminal.
class progress_line {
public:
    explicit progress_line(bool wanted);
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;
    ~progress_line() { clear(); }

    /// Whether there is a terminal, and a line is wanted on it.
    [[nodiscard]] bool wanted() const noexcept { return wanted_; }
    void show(const progress& now);
    void clear();

private:
    bool wanted_;
    stopwatch since_start_;
    double next_ = 0.5;
    bool shown_ = false;
    solve_forecast forecast_;
};

/// "1 h 5 min", "3 min 20 s", "12 s", "0.4 s".
[[nodiscard]] std::string rough_time(double seconds);

} // namespace krylith::tool
