// The OpenMP team of a host device.
#pragma once

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

} // namespace krylith
