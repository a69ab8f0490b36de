// What `krylith bench total` is asked for.
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

struct total_request {
    std::vector<std::string> matrices = {};
    bool spd = false; ///< whether `matrices` are made symmetric positive definite
    tool::device_options devices = {};
    std::vector<int> counts = {};
    int repetitions = 5;
    double rtol = 1e-8;
    std::string folder = std::filesystem::temp_directory_path().string();
    std::string python = "python3";
    bool without_cupy = false;
    std::string report_file = {};

    struct named_matrix {
        std::string name;
        bool spd; ///< made symmetric positive definite (matrix/conversions.hpp)
    };
    /// Defaults included.
    [[nodiscard]] std::vector<named_matrix> matrix_list(backend devices_of) const;
};

void add_options(CLI::App& app, total_request& q);

} // namespace krylith::bench
