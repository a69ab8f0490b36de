// The OpenMP team of a host device.
#pragma once

#include <algorithm>
#include <cstdint>

#include <omp.h>

namespace krylith {

/// Calls body(member, members) on each thread of a team of at most `threads`. The body divides the
/// work by the numbers it is given, since the runtime may grant fewer threads.
template <class Body>
void in_team(int threads, const Body& body) {
    if (threads <= 1) return body(0, 1);
#pragma omp parallel num_threads(threads)
    body(omp_get_thread_num(), omp_get_num_threads());
}

/// The number of threads, at most `threads`, that so many items pay for.
[[nodiscard]] inline int worthwhile_team(int threads, std::int64_t items,
                                         std::int64_t worth_a_thread = 16384) {
    return static_cast<int>(std::clamp<std::int64_t>(items / worth_a_thread, 1, threads));
}

} // namespace krylith
