// What `krylith bench multigrid` is asked for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct multigrid_request {
    std::vector<std::string> matrices;
    std::string families; ///< empty: none; "all", or names with commas
    std::vector<std::string> sizes = {"tiny", "small"}; ///< of the families
    tool::device_options devices;
    std::vector<int> counts;
    std::string preconditioner = "amg"; ///< the text that makes it
    int repetitions = 5;
    double rtol = 1e-8;
    bool with_cg = false;    ///< CG alone beside
    bool with_pyamg = false; ///< PyAMG's smoothed aggregation beside
    std::string python = "python3";
    std::string folder =
        std::filesystem::temp_directory_path().string(); ///< for the arrays that PyAMG reads
    std::string report_file;

    /// Defaults included.
    [[nodiscard]] std::vector<std::string> matrix_list(backend devices_of) const;
};

void add_options(CLI::App& app, multigrid_request& q);

} // namespace krylith::bench
