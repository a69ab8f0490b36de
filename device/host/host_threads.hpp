// How many threads host devices and loops may have, and whether the system gives them.
#pragma once

#include <string>

namespace krylith {

/// The number of cores that this process may use, at least 1. Where OpenMP binds threads
/// (OMP_PROC_BIND) these are the cores of all its places, whichever the calling thread is bound to.
[[nodiscard]] int usable_cores();

/// Lets the calling thread run on all of them: a thread that a bound one starts would share its
/// core.
void use_all_cores();

/// The most threads that are of use, since more only wait for each other: 64, or 16 a core where
/// that is more.
[[nodiscard]] int most_host_threads();

/// Starts so many threads, all at once, and ends them: the OpenMP runtime ends the process where it
/// can't make one. Throws device_error naming `what` wants them, and the limits. What others start
/// afterwards can still be in the way.
void probe_threads(int wanted, const std::string& what);

/// Returns as many threads, up to `wanted`, as the system gives: at least 1.
[[nodiscard]] int obtainable_threads(int wanted);

} // namespace krylith
