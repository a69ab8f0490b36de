// Set-up of the local ranks of a communicator side by side.
#pragma once

#include <functional>

#include <krylith/comm/communicator.hpp>

namespace krylith {

/// Calls work(rank) for each local rank, each in a host thread of its own, and waits for all:
/// set-up that waits for its device lets the other devices work meanwhile. The work of a rank uses
/// its own device alone, and no collective function. Where the system has no thread left, and while
/// three other calls are under way, ranks follow one another. Rethrows the failure of the lowest
/// rank that failed.
void on_each_rank(const communicator& comm, const std::function<void(int rank)>& work);

} // namespace krylith
