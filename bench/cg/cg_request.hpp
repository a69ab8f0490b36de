// What bench_cg is asked for on its command line.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/cg/cg_krylith.hpp>
#include <krylith/bench/cg/cg_measure.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct cg_request {
    std::vector<std::string> matrices;
    bool random = false; ///< each gallery matrix also with random values
    std::string backend_name = "auto";
    std::vector<int> devices;
    int threads = 0;
    std::string kind = "halo";
    std::string format = "auto";
    std::string form = "cg"; ///< cg, cg:persistent or cg:auto
    std::string mode = "auto";
    int unroll = 8;
    std::string solvers = "all"; ///< all, krylith or baseline
    bool passes = false;
    double limit = 0; ///< TB/s a device; 0: by the data sheet, or measured
    cg_plan plan;
    std::string json_file;

    /// The names to load, defaults and random variants included.
    [[nodiscard]] std::vector<std::string> matrix_names(backend devices) const;
    [[nodiscard]] cg_settings settings() const;
};

void add_options(CLI::App& app, cg_request& request);

} // namespace krylith::bench
