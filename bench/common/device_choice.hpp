// Which devices a benchmark runs on.
#pragma once

#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>

namespace krylith::bench {

struct device_choice {
    backend kind = backend::host;
    std::vector<int> counts; ///< sizes of the groups to measure, ascending
    int threads = 0;         ///< of all host devices together; 0: one a core

    /// The first `count` devices.
    [[nodiscard]] device_group group(int count) const;
};

/// `kind` is auto (cuda where there is a CUDA device), cuda or host. No counts: 1 to all CUDA
/// devices, or one host device. Throws usage_error for what is not there.
[[nodiscard]] device_choice choose_devices(const std::string& kind, std::vector<int> counts,
                                           int threads);

/// Whether each device has its share of that many bytes free.
[[nodiscard]] bool has_room(const device_group& group, double bytes);

/// "NVIDIA H200 (cuda:0)" and so on, by rank.
[[nodiscard]] std::vector<std::string> descriptions(const device_group& group);

} // namespace krylith::bench
