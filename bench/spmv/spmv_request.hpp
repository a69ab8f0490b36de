// The request of `krylith bench spmv`.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/bench/spmv/spmv_families.hpp>
#include <krylith/device/device.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/operator_request.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct spmv_request {
    std::vector<std::string> matrices;
    bool spd = false;     ///< made symmetric positive definite
    std::string families; ///< empty: none; "all", or names with commas
    std::vector<std::string> sizes = {"small", "medium", "large"};
    double build_seconds = 15; ///< a member of a family that takes longer to generate is skipped
    tool::device_options devices;
    std::vector<int> counts;
    std::vector<std::string> operators = {"all"};
    std::vector<std::string> formats;
    /// The order, precision, and transport and fractions of those operators that have them.
    tool::operator_request multiply;
    std::string execution = "auto";
    bool without_dot = false;
    double limit = 0; ///< TB/s a device; 0: by the data sheet, or measured
    bool without_limits = false;
    double target = 2.65; ///< the speedup that the summary asks of operators' limits
    slope_effort effort;
    std::string report_file;
    std::string csv_file;

    /// The cases to measure, defaults included. Throws usage_error for an unknown family or size.
    [[nodiscard]] std::vector<spmv_case> cases(backend devices) const;
    /// The formats of one device: those asked for, else all that may be the fastest.
    [[nodiscard]] std::vector<std::string> one_device_formats(backend devices) const;
    /// The operators with `all` written out. Throws usage_error for a name that is no operator's.
    [[nodiscard]] std::vector<std::string> operator_list() const;
    /// The options of this kind, with the transport and the fractions that it takes. Throws
    /// usage_error for a name that is none.
    [[nodiscard]] operator_options options_of(const std::string& kind,
                                              const std::string& format) const;
    /// Throws usage_error naming the first thing that is not allowed.
    void check() const;
};

void add_options(CLI::App& app, spmv_request& q);

} // namespace krylith::bench
