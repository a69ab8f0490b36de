// A process that is stopped for longer than the time-out (Ctrl-Z, a batch system, a debugger)
// continues its solve afterwards: the time of the stop does not count.
#include <csignal>
#include <ctime>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <krylith/matrix/gallery.hpp>

#include <krylith/tests/support/groups.hpp>
#include <krylith/tests/support/random.hpp>
#include <krylith/tests/support/solves.hpp>

namespace krylith {

using testing::problem;

namespace {

void sleep_for(double seconds) {
    const auto whole = static_cast<time_t>(seconds);
    const timespec time{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
    nanosleep(&time, nullptr);
}

/// A child process that stops this one for a while, again and again. It makes only calls that are
/// safe between fork and exec.
class stopper {
public:
    stopper(int times, double running, double stopped) : child_(fork()) {
        if (child_ != 0) return;
        const pid_t parent = getppid();
        for (int i = 0; i < times; ++i) {
            sleep_for(running);
            kill(parent, SIGSTOP);
            sleep_for(stopped);
            kill(parent, SIGCONT);
        }
        _exit(0);
    }
    stopper(const stopper&) = delete;
    stopper& operator=(const stopper&) = delete;
    ~stopper() {
        if (child_ > 0) waitpid(child_, nullptr, 0);
    }
    /// Whether the child will stop this process again.
    [[nodiscard]] bool busy() { return child_ > 0 && waitpid(child_, nullptr, WNOHANG) == 0; }

private:
    pid_t child_;
};

void survives_stops(const device_group& group, int times, double running, double stopped,
                    double timeout) {
    problem<double> p(group, poisson2d<double>(40), testing::random_values<double>(1600, 194));
    const solver_options options{.timeout_seconds = timeout};
    stopper child(times, running, stopped);
    int solves = 0;
    do {
        bool converged = false;
        REQUIRE_NOTHROW(converged = p.solve(testing::method::cg, options).converged());
        REQUIRE(converged);
        ++solves;
    } while (child.busy());
    MESSAGE(solves << " solves");
}

} // namespace

// Under ThreadSanitizer all of this takes longer, so time-outs are not the shortest possible.
TEST_CASE("stopped process: a stop longer than the time-out loses no solve") {
    for (const int devices : {2, 7}) survives_stops(device_group::host(devices), 3, 0.1, 0.9, 0.5);
}

// Graphs are launched on one GPU after the other. A stop between two launches is rare, so there are
// many stops.
TEST_CASE("stopped process: GPUs, a time-out of 1 s and stops of 3 s [cuda]") {
    for (const auto& group : testing::cuda_groups())
        if (group.size() == 2 && group.concurrent()) {
            survives_stops(group, 2, 0.2, 3.0, 1.0);
            survives_stops(group, 40, 0.01, 0.15, 0.1);
        }
}

} // namespace krylith
