#include <krylith/device/host/host_threads.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <omp.h>
#include <sched.h>
#include <sys/resource.h>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

/// Returns how many of these threads could be there at once, and why no more.
int started_before_refusal(int wanted, std::string& problem) {
    std::mutex guard;
    std::condition_variable over;
    bool done = false;
    std::vector<std::thread> threads;
    int started = 0;
    try {
        threads.reserve(static_cast<std::size_t>(wanted));
        for (; started < wanted; ++started)
            threads.emplace_back([&] {
                std::unique_lock lock(guard);
                over.wait(lock, [&] { return done; });
            });
    } catch (const std::exception& e) { // a std::system_error, or no memory for its text
        problem = e.what();
    }
    {
        const std::scoped_lock lock(guard);
        done = true;
    }
    over.notify_all();
    for (std::thread& one : threads) one.join();
    return started;
}

/// Finds the cores that the calling thread may use, or where OpenMP binds threads to places, those
/// of all places.
bool find_cores(cpu_set_t& set) {
    const int places = omp_get_num_places();
    if (places == 0 || omp_get_proc_bind() == omp_proc_bind_false)
        return sched_getaffinity(0, sizeof set, &set) == 0;
    CPU_ZERO(&set);
    for (int place = 0; place < places; ++place) {
        std::vector<int> cores(static_cast<std::size_t>(omp_get_place_num_procs(place)));
        omp_get_place_proc_ids(place, cores.data());
        for (const int core : cores)
            if (core >= 0 && core < CPU_SETSIZE) CPU_SET(core, &set);
    }
    return true;
}

std::string limit_in_words(int resource, const char* name) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return {};
    return std::string(", ") + name + " is " + std::to_string(limit.rlim_cur);
}

} // namespace

int usable_cores() {
    cpu_set_t set;
    if (find_cores(set)) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void use_all_cores() {
    cpu_set_t set;
    if (omp_get_num_places() > 0 && find_cores(set)) (void)sched_setaffinity(0, sizeof set, &set);
}

int most_host_threads() {
    return std::max(64, 16 * usable_cores());
}

void probe_threads(int wanted, const std::string& what) {
    std::string problem;
    const int started = started_before_refusal(wanted, problem);
    if (started == wanted) return;
    throw device_error(what + " need " + std::to_string(wanted) + " threads, but the system gave " +
                       std::to_string(started) + " (" + problem + ")" +
                       limit_in_words(RLIMIT_NPROC, "RLIMIT_NPROC (ulimit -u)") +
                       limit_in_words(RLIMIT_AS, "RLIMIT_AS (ulimit -v)") +
                       limit_in_words(RLIMIT_STACK, "each takes RLIMIT_STACK (ulimit -s), which") +
                       "; a control group's pids.max counts too: ask for fewer threads");
}

int obtainable_threads(int wanted) {
    std::string ignored;
    return 1 + started_before_refusal(std::max(0, wanted - 1), ignored);
}

} // namespace krylith
