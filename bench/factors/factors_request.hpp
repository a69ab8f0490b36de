// What `krylith bench factors` is asked for.
#pragma once

#include <string>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct factors_request {
    std::vector<std::string> matrices;
    tool::device_options devices;
    std::vector<int> counts = {1};
    int repetitions = 5;
    double rtol = 1e-8;
    bool without_solves = false; ///< factors alone
    bool without_peers = false;  ///< cuSPARSE is not measured
    std::string report_file;

    /// Defaults included.
    [[nodiscard]] std::vector<std::string> matrix_list(backend devices_of) const;
};

void add_options(CLI::App& app, factors_request& q);

} // namespace krylith::bench
