// A loop that only counts, for any body.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

#include <krylith/vector/execution.hpp>
#include <krylith/vector/scalar.hpp>

namespace krylith::testing {

/// Sets the control registers for iterations `from` + 1 .. `to`; nothing else stops the loop.
inline void set_controls(execution& run, std::int64_t from, std::int64_t to) {
    constexpr double never = std::numeric_limits<double>::infinity();
    run.set(control::state, as_register(loop_state::running));
    run.set(control::iteration, static_cast<double>(from));
    run.set(control::target, -1);
    run.set(control::limit, static_cast<double>(to));
    run.set(control::pause_at, never);
    run.set(control::ceiling, never);
    run.set(control::best, never);
    run.set(control::best_at, static_cast<double>(from));
    run.set(control::patience, never);
}

/// Runs `body` exactly `count` times.
inline loop_report iterate(execution& run, std::int64_t count, const std::function<void()>& body) {
    scalar rr(run);
    set_controls(run, 0, count);
    run.set(rr.number(), 1);
    return run.repeat([&] {
        body();
        test_residual(rr);
    });
}

/// Returns the modes that the ranks allow.
[[nodiscard]] inline std::vector<execution_mode> modes_of(const communicator& comm) {
    if (execution(comm, {}).mode() == execution_mode::eager) return {execution_mode::eager};
    return {execution_mode::recorded, execution_mode::eager};
}

/// Returns the modes that the operator allows on its group.
template <class A>
requires requires(const A& a) {
    a.recordable();
}
[[nodiscard]] std::vector<execution_mode> modes_of(const A& a) {
    if (!a.recordable()) return {execution_mode::eager};
    return modes_of(a.make_range_vector().layout()->comm);
}

} // namespace krylith::testing
