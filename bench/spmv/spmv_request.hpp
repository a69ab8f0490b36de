// What bench_spmv is asked for on its command line.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/spmv/spmv_families.hpp>
#include <krylith/device/device.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct spmv_request {
    std::vector<std::string> matrices;
    std::string families; ///< empty: none; "all", or names with commas
    std::vector<std::string> sizes = {"small", "medium", "large"};
    double build_seconds = 15; ///< a member of a family that takes longer to generate is skipped
    std::string backend_name = "auto";
    std::vector<int> devices;
    int threads = 0;
    std::vector<std::string> operators = {"all"};
    std::vector<std::string> formats;
    std::string transport = "auto"; ///< of nz, 2nz, lra and lra-rc
    double long_fraction = -1;      ///< of lra and lra-rc; -1: the paper's
    double redundant_fraction = -1; ///< of lra-rc; -1: the paper's
    std::string mode = "auto";
    bool without_dot = false;
    double limit = 0;     ///< TB/s a device; 0: by the data sheet, or measured
    double target = 2.65; ///< the speedup that the summary asks of operators' limits
    slope_effort effort;
    std::string json_file;
    std::string csv_file;

    /// What to measure, defaults included. Throws usage_error for an unknown family or size.
    [[nodiscard]] std::vector<spmv_case> cases(backend devices) const;
    /// Formats of one device: those asked for, else all that may be the fastest.
    [[nodiscard]] std::vector<std::string> one_device_formats(backend devices) const;
    /// `all` written out. Throws usage_error for a name that is no operator's.
    [[nodiscard]] std::vector<std::string> operator_list() const;
    /// With the transfer and the shares that this kind takes.
    [[nodiscard]] operator_options options_of(operator_kind kind, format_kind format) const;
};

void add_options(CLI::App& app, spmv_request& q);

} // namespace krylith::bench
