#include <krylith/solvers/joint/joint_limits.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <krylith/device/error.hpp>

namespace krylith {

using clock = std::chrono::steady_clock;

joint_limits::joint_limits(const solver_options& options, std::int64_t rows,
                           clock::time_point began)
    : options_(options),
      iterations_(options.max_iterations >= 0 ? options.max_iterations
                                              : std::min<std::int64_t>(10 * rows, 10000)),
      began_(began) {}

bool joint_limits::watched() const {
    return options_.stop.stop_possible() || std::isfinite(options_.max_seconds);
}

std::optional<reason> joint_limits::told_to_stop() const {
    if (options_.stop.stop_requested()) return reason::interrupted;
    const double passed = std::chrono::duration<double>(clock::now() - began_).count();
    if (passed >= options_.max_seconds) return reason::time_limit;
    return std::nullopt;
}

execution_mode recordable_mode(execution_mode asked, bool recordable, const std::string& name) {
    if (recordable) return asked;
    if (asked == execution_mode::recorded)
        throw usage_error(name + " can't be recorded: use mode automatic or eager");
    return execution_mode::eager;
}

void set_controls(execution& run, std::int64_t done, std::int64_t limit) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    run.set(control::state, as_register(loop_state::running));
    run.set(control::iteration, static_cast<double>(done));
    run.set(control::target, 0.5); // of the number of columns that go on
    run.set(control::limit, static_cast<double>(limit));
    run.set(control::pause_at, infinity);
    run.set(control::ceiling, infinity);
    run.set(control::residual, 0);
    run.set(control::best, infinity);
    run.set(control::best_at, static_cast<double>(done));
    run.set(control::patience, infinity);
    run.unguarded([&] { run.flush(); });
}

std::string not_persistent_because(const solver_options& options, execution_mode mode) {
    if (options.mode != execution_mode::automatic) return "solver_options::mode asks for it";
    if (mode == execution_mode::eager) return "the environment asks for eager execution";
    return {};
}

} // namespace krylith
