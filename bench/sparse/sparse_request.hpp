// The request of `krylith bench sparse`.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/spmv/spmv_families.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct sparse_request {
    std::vector<std::string> matrices;
    std::string families; ///< empty: none; "all", or names with commas
    std::vector<std::string> sizes = {"small"};
    bool gallery = false;             ///< the matrices of gallery_matrices.hpp
    std::vector<std::string> kernels; ///< empty: all
    std::vector<int> thread_counts;   ///< of the host; empty: devices.threads alone
    int repeats = 9;
    std::string precision = "fp64";
    bool without_peers = false;
    tool::device_options devices;
    std::string report_file;
    std::string csv_file;

    /// The matrices to measure, defaults included. Throws usage_error for an unknown family or
    /// size.
    [[nodiscard]] std::vector<spmv_case> cases(backend devices_of) const;
    /// Throws usage_error naming the first thing that is not allowed.
    void check() const;
};

void add_options(CLI::App& app, sparse_request& q);

} // namespace krylith::bench
