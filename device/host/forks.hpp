// What fork() leaves of a process to its child: its memory, and none of its threads.
#pragma once

#include <string>

namespace krylith {

/// The number of calls of fork() between the process that began and this one. O(1), without a call
/// of the system. Teams of OpenMP end before a fork, in the thread that calls it, and begin again
/// where they are needed: parent and child can both have one, which gcc's runtime does not allow
/// for by itself.
[[nodiscard]] int forks() noexcept;

/// Says, for the end of a message about CUDA, that it can't work in a child whose parent has used
/// it; empty unless this process is a child.
[[nodiscard]] std::string cuda_after_fork();

/// Throws usage_error where this process is a child of the one in which forks() was `then`: `what`
/// has lost its threads.
void check_not_forked(int then, const std::string& what);

} // namespace krylith
