// Threads that are kept for the next who wants one.
#pragma once

#include <functional>

namespace krylith {

/// Calls job() in another thread and returns at once; `job` may not throw. A loop of OpenMP has one
/// thread there. Returns false, without a call, where the system has no thread left.
///
/// Threads sleep between jobs, until the process ends: the first calls of CUDA in a new thread take
/// some milliseconds, as long as a large part of a set-up.
[[nodiscard]] bool run_in_kept_thread(std::function<void()> job);

} // namespace krylith
