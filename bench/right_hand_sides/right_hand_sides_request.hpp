// What `krylith bench right-hand-sides` is asked for.
#pragma once

#include <string>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct right_hand_sides_request {
    std::vector<std::string> matrices;
    tool::device_options devices;
    std::vector<int> device_counts;
    std::vector<int> columns = {8}; ///< right-hand sides, one number after the other
    std::string solver = "cg";
    std::string preconditioner = "jacobi";
    int repetitions = 5;
    double rtol = 1e-8;
    std::string report_file;

    /// Defaults included.
    [[nodiscard]] std::vector<std::string> matrix_list(backend devices_of) const;
};

void add_options(CLI::App& app, right_hand_sides_request& q);

} // namespace krylith::bench
