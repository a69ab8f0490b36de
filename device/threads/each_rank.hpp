// Set-up of all ranks of a group side by side.
#pragma once

#include <functional>

#include <krylith/device/device_group.hpp>

namespace krylith {

/// Calls work(rank) for each rank, each in a host thread of its own, and waits for all: set-up that
/// waits for its device lets the other devices work meanwhile. The work of a rank uses its own
/// device alone. Where the system has no thread left, and while three other calls are under way,
/// ranks follow one another. Rethrows the failure of the lowest rank that failed.
void on_each_rank(const device_group& group, const std::function<void(int rank)>& work);

} // namespace krylith
