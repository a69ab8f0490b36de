// The scalar part of a cycle of GMRES(m) for several right-hand sides: each column has its own
// Hessenberg matrix and takes the steps of solvers/gmres/delayed_hessenberg.hpp by itself.
//
// A column steps until its estimate reaches the target, its space is complete, or the cycle ends.
// From then on its sums are taken for nothing and its vectors become 0, which is finite whatever
// they held, while the others go on.
#pragma once

#include <cstdint>

#include <krylith/solvers/gmres/delayed_hessenberg.hpp>
#include <krylith/solvers/joint/column_pass.hpp>

namespace krylith {

/// Places in kernel_context::array, for k columns and a basis of m + 1 vectors: those that all
/// joint loops have, the method's own, a Hessenberg matrix a column, and the batch of a step.
struct column_cycle_places {
    int k;
    int m;

    /// The numbers of the method (column_places::own).
    enum number : int {
        steps,       ///< columns of H that are complete
        lucky,       ///< 1: the space is complete
        found,       ///< squared norm of V y, where M is a step of its own
        step_factor, ///< of M^-1 there, else 1
        numbers
    };

    [[nodiscard]] KRYLITH_HD column_places columns() const { return {k}; }
    [[nodiscard]] KRYLITH_HD delayed_layout layout() const { return {{m}}; }
    /// The Hessenberg matrix of column c.
    [[nodiscard]] KRYLITH_HD std::int64_t hessenberg(int c) const {
        return columns().own(numbers) + c * layout().size();
    }
    /// The values -y of column c.
    [[nodiscard]] KRYLITH_HD std::int64_t solution(int c) const {
        return hessenberg(c) + layout().solution();
    }
    /// The batch of a step, all values of one column after those of another.
    [[nodiscard]] KRYLITH_HD std::int64_t batch() const { return hessenberg(k); }
    /// The values of one column in step j, the last of which has no product with A.
    [[nodiscard]] KRYLITH_HD int values(int j) const { return j < m ? 2 * j + 3 : m + 1; }
    [[nodiscard]] KRYLITH_HD std::int64_t largest_batch() const { return k * layout().batch(); }
    [[nodiscard]] KRYLITH_HD std::int64_t size() const { return batch() + largest_batch(); }
};

/// Counts the step j - 1 that step j completes, and returns the state that its estimate, which lies
/// in the place of the residual, leaves column c in.
[[nodiscard]] KRYLITH_HD inline loop_state test_estimate_of(const column_cycle_places& at,
                                                            double* array, int c, int j) {
    const column_places columns = at.columns();
    const loop_state next = test_column(array, array + columns.residual(), columns, c);
    if (next == loop_state::not_a_number) return next;
    if (array[columns.own(column_cycle_places::lucky) + c] != 0.0) return loop_state::breakdown;
    return next == loop_state::running && j == at.m ? loop_state::pause : next;
}

/// Takes in the sums of step j, from 0 to m, in column c, and leaves in their place what the update
/// takes: zeros where the column doesn't step. All threads of the team call it. Returns whether the
/// column goes on. States that end a cycle: converged (by the estimate), breakdown (the space is
/// complete), pause (the last step), not_a_number.
template <class Team>
KRYLITH_HD bool step_column(const column_cycle_places& at, double* array, int c, int j,
                            const Team& team) {
    const column_places columns = at.columns();
    double& state = array[columns.state() + c];
    double& steps = array[columns.own(column_cycle_places::steps) + c];
    double* const batch = array + at.batch() + std::int64_t{c} * at.values(j);
    bool goes_on = state == 0.0;
    team.meet(); // all have read the state
    if (goes_on) {
        detail::delayed({j, at.m, false}, 1.0, batch, array + at.hessenberg(c),
                        {array[columns.residual() + c], steps,
                         array[columns.own(column_cycle_places::lucky) + c]},
                        team);
        if (j > 0 && team.index() == 0) state = as_register(test_estimate_of(at, array, c, j));
        team.meet();
        goes_on = state == 0.0;
    } else if (j == 0 && team.index() == 0) {
        steps = 0; // of an earlier cycle
    }
    if (!goes_on)
        for (int v = team.index(); v < at.values(j); v += team.count()) batch[v] = 0;
    return goes_on;
}

/// Solves for what the cycle adds to column c, which is nothing where the column didn't step or met
/// a NaN.
KRYLITH_HD inline void solve_column(const column_cycle_places& at, double* array, int c) {
    const column_places columns = at.columns();
    double& steps = array[columns.own(column_cycle_places::steps) + c];
    if (array[columns.state() + c] == as_register(loop_state::not_a_number)) steps = 0;
    detail::back_substitute(at.layout(), static_cast<std::int64_t>(steps),
                            array + at.hessenberg(c));
}

/// What happens to the scalars of all columns between two passes. Plain data.
struct cycle_task {
    column_cycle_places at;
    int step; ///< 0 to m, or solution()
    int slot; ///< the place in kernel_context::slots of the number of columns that go on

    /// The `step` after the others, which solves for y.
    [[nodiscard]] KRYLITH_HD static int solution(const column_cycle_places& at) { return at.m + 1; }
    [[nodiscard]] KRYLITH_HD bool solves() const { return step == solution(at); }
};

/// Performs the task for column c. Returns whether the column goes on.
template <class Team>
KRYLITH_HD bool perform(const cycle_task& task, double* array, int c, const Team& team) {
    if (!task.solves()) return step_column(task.at, array, c, task.step, team);
    if (team.index() == 0) solve_column(task.at, array, c);
    return false;
}

} // namespace krylith
