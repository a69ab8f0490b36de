// The OpenMP team of a host device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <mutex>

#include <omp.h>

namespace krylith {

/// Calls body(member, members) on each thread of a team of at most `threads`. The body divides the
/// work by the numbers it is given, since the runtime may grant fewer threads. What a body throws,
/// of several the one that comes first, is thrown when all have ended: a body whose members wait
/// for one another must not throw.
template <class Body>
void in_team(int threads, const Body& body) {
    if (threads <= 1) return body(0, 1);
    std::mutex failing;         // a critical section in a handler crashes with LLVM 14
    std::exception_ptr failure; // none may leave the parallel region by itself
#pragma omp parallel num_threads(threads)
    try {
        body(omp_get_thread_num(), omp_get_num_threads());
    } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
    }
    if (failure) std::rethrow_exception(failure);
}

/// The number of threads, at most `threads`, that so many items pay for.
[[nodiscard]] inline int worthwhile_team(int threads, std::int64_t items,
                                         std::int64_t worth_a_thread = 16384) {
    return static_cast<int>(std::clamp<std::int64_t>(items / worth_a_thread, 1, threads));
}

} // namespace krylith
