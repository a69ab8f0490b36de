// The whole of `krylith bench calls`: what a call of a solver costs beside its iterations, in time
// steps of one operator.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/csv_file.hpp>
#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/common/report.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct calls_request {
    std::vector<std::string> matrices; ///< without: gallery:poisson3d:16
    std::string solver = "cg";
    std::string preconditioner = "none";
    int steps = 1000;
    std::vector<int> counts;
    tool::device_options devices;
    std::string report_file;
    std::string csv_file;
};

void add_options(CLI::App& app, calls_request& q);

class calls_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit calls_run(const calls_request& request);

    /// Runs and prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    [[nodiscard]] json measure(const std::string& name, int devices) const;

    calls_request request_;
    device_choice choice_;
    report report_;
    csv_file csv_;
};

/// The columns of csv_file.
[[nodiscard]] std::vector<std::string> calls_csv_columns();
[[nodiscard]] std::string calls_table_head();
[[nodiscard]] std::string calls_table_lines(const json& row);

} // namespace krylith::bench
