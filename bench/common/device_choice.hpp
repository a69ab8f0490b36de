// The devices that a benchmark runs on.
#pragma once

#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/tools/cli/device_selection.hpp>

namespace krylith::bench {

using tool::descriptions;

/// The first devices of a backend, as many at a time as `counts` says.
struct device_choice {
    backend kind = backend::host;
    std::vector<int> counts; ///< sizes of the groups to measure, ascending
    tool::device_options options;

    /// The first `count` devices.
    [[nodiscard]] device_group group(int count) const {
        return tool::first_devices(options, count);
    }
};

/// Chooses devices; without counts those of tool::default_counts. Throws usage_error for what can't
/// be, and device_error for CUDA devices that are not there.
[[nodiscard]] device_choice choose_devices(const tool::device_options& options,
                                           std::vector<int> counts);

/// Returns whether each device has its fraction of that many bytes free.
[[nodiscard]] bool has_room(const device_group& group, double bytes);

} // namespace krylith::bench
