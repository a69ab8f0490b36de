// Performs the tasks of hessenberg.hpp and shadow_space.hpp. A Team is the threads that perform a
// task together: index() of count(), meet() where others read what one of them has written, sum()
// over all.
#pragma once

#include <krylith/vector/scalar/delayed_hessenberg.hpp>
#include <krylith/vector/scalar/hessenberg.hpp>
#include <krylith/vector/scalar/shadow_space.hpp>

namespace krylith {

/// The team of a host device.
struct lone_thread {
    [[nodiscard]] int index() const { return 0; }
    [[nodiscard]] int count() const { return 1; }
    void meet() const {}
    [[nodiscard]] double sum(double value) const { return value; }
};

/// Performs the task; all threads of the team call it.
template <class Team>
KRYLITH_HD void perform(const array_task& task, double* array, double* slots, const Team& team) {
    switch (task.kind) {
    case array_task::none: break;
    case array_task::delayed:
    case array_task::delayed_varying: detail::delayed(task, array, slots, team); break;
    case array_task::rotate:
        if (team.index() == 0) detail::rotate(task, array, slots);
        break;
    case array_task::back_substitute:
        if (team.index() == 0)
            detail::back_substitute(
                {task.m}, static_cast<std::int64_t>(slots[task.slots[array_task::columns]]), array);
        break;
    case array_task::begin_shadow:
        if (team.index() == 0) detail::begin_shadow(task, array);
        break;
    case array_task::solve_shadow:
        if (team.index() == 0) detail::solve_shadow(task, array);
        break;
    case array_task::extend_shadow:
        if (team.index() == 0) detail::extend_shadow(task, array, slots);
        break;
    }
}

} // namespace krylith
