#include <krylith/device/host/forks.hpp>

#include <atomic>

#include <omp.h>
#include <pthread.h>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

std::atomic<int> count = 0;

void end_teams() {
    (void)omp_pause_resource_all(omp_pause_soft); // refuses inside of a parallel region
}

void count_fork() {
    count.fetch_add(1, std::memory_order_relaxed);
}

/// Before main(): a program may use OpenMP and fork before it makes its first group.
[[maybe_unused]] const int registered = pthread_atfork(end_teams, nullptr, count_fork);

} // namespace

int forks() noexcept {
    return count.load(std::memory_order_relaxed);
}

std::string cuda_after_fork() {
    if (forks() == 0) return {};
    return "; this process is a child of fork(), where CUDA can't work once the parent has used "
           "it: fork() before the first use, or exec() afterwards";
}

void check_not_forked(int then, const std::string& what) {
    if (forks() == then) return;
    throw usage_error(what + " was made before fork(), and this is the child, which has no threads "
                             "and no CUDA contexts of its parent: make a device group, and what "
                             "belongs to it, in the process that uses it");
}

} // namespace krylith
