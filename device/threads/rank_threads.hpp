// Threads that work for the ranks of a group side by side.
#pragma once

#include <functional>

namespace krylith {

/// Calls work(0) in the calling thread and work(1) ... work(count - 1) in others, and waits for
/// all; `work` may not throw. A loop of OpenMP has at most `team` threads in each of the others.
///
/// The threads are kept until the process ends: a set-up on several GPUs calls this about forty
/// times, and the first call of CUDA in a new thread takes longer than most of that work. Where
/// three calls are under way, or no thread can be had, the calling thread does all by itself.
void run_side_by_side(int count, int team, const std::function<void(int)>& work);

} // namespace krylith
