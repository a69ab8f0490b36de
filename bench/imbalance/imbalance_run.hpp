// The whole of `krylith bench imbalance`: two kinds of load in every mixture, partitioned by equal
// rows and by equal nonzeros.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/common/csv_file.hpp>
#include <krylith/bench/common/device_choice.hpp>
#include <krylith/bench/imbalance/imbalance_matrix.hpp>
#include <krylith/bench/streamed/streamed_measure.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct imbalance_request {
    std::int64_t rows = 0;      ///< 0: 2^21, on host devices 2^15
    std::int64_t nonzeros = 0;  ///< 0: 64 a row
    std::vector<double> ratios; ///< without: 1/10 to 9/10
    tool::device_options devices;
    int count = 0; ///< devices; 0: all, on the host 4
    streamed_effort effort;
    std::string report_file;
    std::string csv_file;
};

void add_options(CLI::App& app, imbalance_request& q);

class imbalance_run {
public:
    /// Throws usage_error for a request that can't be carried out.
    explicit imbalance_run(const imbalance_request& request);

    /// Runs and prints as it goes. Returns whether no row is void.
    [[nodiscard]] bool run();

private:
    /// Returns the seconds of the kernels alone, for one version of streamed products, and adds the
    /// reason where it is void.
    [[nodiscard]] spread measure(const workload& w, const std::string& version,
                                 const reference_product& expected,
                                 std::vector<std::string>& void_because);
    [[nodiscard]] json measure_load(const two_loads& load);

    imbalance_request request_;
    device_choice choice_;
    report report_;
    csv_file csv_;
    double balanced_ = 0; ///< seconds by equal nonzeros where all loads are equal
};

/// The columns of csv_file.
[[nodiscard]] std::vector<std::string> imbalance_csv_columns();
[[nodiscard]] std::string imbalance_table_head();
[[nodiscard]] std::string imbalance_table_lines(const json& row);

} // namespace krylith::bench
