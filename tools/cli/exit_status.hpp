// What the krylith command tells the shell.
#pragma once

#include <exception>

namespace krylith::tool {

enum class exit_status {
    success = 0,       ///< converged, or done
    not_converged = 1, ///< or, for spmv, different from the reference
    usage = 2,
    bad_input = 3,
    device_failure = 4,
    communication_failure = 5
};

/// The status that goes with an exception: the library's types decide, memory that ran out counts
/// as a device failure.
[[nodiscard]] exit_status status_of(const std::exception& failure) noexcept;

} // namespace krylith::tool
