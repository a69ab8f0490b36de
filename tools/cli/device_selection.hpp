// The device group that the options ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/device_group.hpp>
#include <krylith/solvers/options.hpp>

namespace krylith::tool {

struct device_options {
    std::string backend = "auto"; ///< auto: cuda where there is a CUDA device, else host
    /// How many, or CUDA ordinals separated by commas; of solve also auto (placement.hpp).
    std::string devices = "1";
    int threads = 0; ///< of all host devices together; 0: one a core
    std::string transport = "auto";
    std::string processes = "auto"; ///< that solve together (processes.hpp)
    std::optional<double> timeout;  ///< seconds that devices, and processes, wait for each other

    [[nodiscard]] double timeout_seconds() const {
        return timeout.value_or(solver_options{}.timeout_seconds);
    }
    /// Processes that read and prepare may be far apart: without --timeout they wait longer.
    [[nodiscard]] double link_timeout_seconds() const { return timeout.value_or(600); }
};

/// Throws usage_error for names and lists that are not understood.
[[nodiscard]] backend select_backend(const device_options& options);
[[nodiscard]] device_group select_devices(const device_options& options);

/// The same with the first `count` devices of the backend, whatever options.devices says.
[[nodiscard]] device_group first_devices(const device_options& options, int count);
/// The same with these GPUs.
[[nodiscard]] device_group some_devices(const device_options& options,
                                        const std::vector<int>& ordinals);

/// 1, 2, 4 ... and all devices of the backend; on the host, all cores.
[[nodiscard]] std::vector<int> default_counts(const device_options& options);

/// "0,2,5" as numbers. Throws usage_error naming the option where that isn't a list of them.
[[nodiscard]] std::vector<int> parse_list(const std::string& option, const std::string& text);

/// The same as numbers of devices, each checked.
[[nodiscard]] std::vector<int> parse_counts(const std::string& option, const std::string& text);

/// Throws usage_error naming the option unless a group can have so many devices.
void check_count(const std::string& option, int count);

/// "host:0, 2 threads" and so on, by rank.
[[nodiscard]] std::vector<std::string> descriptions(const communicator& comm);

} // namespace krylith::tool
