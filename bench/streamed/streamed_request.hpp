// What `krylith bench streamed` is asked for.
#pragma once

#include <string>
#include <vector>

#include <krylith/bench/streamed/streamed_measure.hpp>
#include <krylith/device/device.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace CLI {
class App;
}

namespace krylith::bench {

struct streamed_request {
    std::vector<std::string> matrices;
    std::vector<std::string> formats = {"csr", "csc", "coo"};
    std::vector<std::string> versions = {"baseline", "p", "p_opt"};
    tool::device_options devices;
    std::vector<int> counts;
    bool pageable = false;
    streamed_effort effort;
    std::string report_file;
    std::string csv_file;

    /// Defaults included.
    [[nodiscard]] std::vector<std::string> matrix_list(backend devices_of) const;
    /// `all` written out. Throws usage_error for a name that is none.
    [[nodiscard]] std::vector<std::string> format_list() const;
    /// Throws usage_error for a name that is none.
    void check_versions() const;
};

void add_options(CLI::App& app, streamed_request& q);
/// Those of effort that the benchmarks of streamed products share.
void add_options(CLI::App& app, streamed_effort& effort);

} // namespace krylith::bench
