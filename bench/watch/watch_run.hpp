// The whole of `krylith bench watch`: what it costs to watch a solve, and how soon it stops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>
#include <krylith/matrix/csr.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct watch_request {
    std::vector<std::string> matrices; ///< without: a 7-point stencil of 64^3 rows
    std::int64_t iterations = 640;     ///< of a solve that is timed, less a quarter of them
    int repetitions = 40;
    std::vector<int> counts; ///< devices
    tool::device_options devices;
    std::string report_file;
};

void add_options(CLI::App& app, watch_request& q);

struct long_solve;

/// What a row of the table is of.
struct watched_row {
    const std::string& matrix;
    int devices;
    const char* solver;
};

/// Solves take turns: unwatched, watched by a token and a limit of time, by a callback of every
/// iteration, and by a callback that pauses. Then solves without end are stopped by a token.
class watch_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit watch_run(const watch_request& request);

    /// Runs and prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    void run_matrix(const std::string& name, const csr_matrix<double>& matrix, int count);
    /// Times iterations that are watched in each way.
    void run_watched(long_solve& s, const watched_row& at, bool persistent);
    /// Times how long a solve goes on after it was asked to stop.
    void run_stopped(long_solve& s, const watched_row& at, bool persistent);

    watch_request request_;
    device_choice choice_;
    report report_;
};

} // namespace krylith::bench
