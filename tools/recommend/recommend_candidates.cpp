#include <krylith/tools/recommend/recommend_trial.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/automatic/method_plan.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith::tool {

namespace {

const int usual_restart = solver_options{}.restart;
constexpr int longer_restart = 100;

double span(const diagonal_statistics& d) {
    return std::max(std::fabs(d.least), std::fabs(d.most)) / d.smallest;
}

class planner {
public:
    planner(const matrix_statistics& s, const row_sample& sample, int block_size,
            const matrix_statistics* matched)
        : s_(s), sample_(sample), matched_(matched) {
        for (const preconditioner_method* row : all_preconditioners) {
            if (!row->listed) continue;
            std::string no_use = row->no_use_because.get()(s);
            if (row->only_for_nodes && block_size == 1)
                no_use = "rows of a node would have the same columns, and few rows have";
            if (no_use.empty())
                usable_.push_back(row);
            else
                plan_.left_out.push_back(std::string(row->name) + ": " + no_use);
        }
    }

    void positive_definite(const std::string& because) {
        for (const solver_method* solver : all_solvers) {
            if (!solver->listed || !solver->needs_spd) continue;
            for (const preconditioner_method* m : usable_)
                if (m->suits_definite()) add(*solver, m, side::right, because);
            add(*solver, nullptr, side::right, because);
        }
    }

    void general(const std::string& because) {
        const auto usable = std::ranges::find_if(usable_, is_cheap);
        const preconditioner_method* first = usable == usable_.end() ? nullptr : *usable;
        for (const solver_method* solver : general_solvers())
            add(*solver, first, side::right,
                because + (solver->restarts ? "" : "; short recurrences"));
        if (s_.rows > usual_restart)
            for (const solver_method* solver : general_solvers())
                if (solver->restarts)
                    add(*solver, first, side::right, because + "; a longer memory may not stall",
                        longer_restart);
        const int longest = long_restart({.rows = s_.rows});
        if (longest > longer_restart)
            for (const solver_method* solver : general_solvers())
                if (solver->restarts)
                    add(*solver, first, side::right,
                        because + "; the memory that solver auto takes", longest);
        for (const preconditioner_method* row : usable_)
            if (row->scales_both_sides)
                for (const solver_method* solver : general_solvers())
                    if (solver->has_sides)
                        add(*solver, row, side::split, "rows and columns of one size are easier",
                            solver->restarts ? longest : usual_restart);
        if (sample_.like_transport() && !s_.symmetry->by_values())
            for (const preconditioner_method* row : usable_)
                if (row->chosen_for_transport_from)
                    for (const solver_method* solver : general_solvers())
                        add(*solver, row, side::right, "like convection with diffusion");
        for (const preconditioner_method* row : usable_)
            if (!row->needs_spd && !row->pointwise) add_strong(*row);
        if (matched_ != nullptr) add_matched(*matched_);
        if (first == nullptr) return;
        if (first->pointwise && span(s_.diagonal) > wide_diagonal) add_sides(*first);
        for (const solver_method* solver : general_solvers())
            if (!solver->restarts)
                add(*solver, nullptr, side::right,
                    "in case " + std::string(first->name) + " harms");
    }

    void leave_out(const std::string& what) { plan_.left_out.push_back(what); }
    [[nodiscard]] candidates result() { return std::move(plan_); }

private:
    /// Takes next to nothing to make and to apply, and any solver takes it.
    [[nodiscard]] static bool is_cheap(const preconditioner_method* m) {
        return !m->needs_spd && m->pointwise && !m->scales_both_sides;
    }

    static std::vector<const solver_method*> general_solvers() {
        std::vector<const solver_method*> rows;
        for (const solver_method* row : all_solvers)
            if (row->listed && !row->needs_spd) rows.push_back(row);
        return rows;
    }

    void add_strong(const preconditioner_method& row) {
        const std::string name(row.name);
        for (const solver_method* solver : general_solvers())
            add(*solver, &row, side::right, name + " takes what stalls others");
        if (row.stronger.empty() || s_.nnz() > most_strong_nonzeros) return;
        for (const solver_method* solver : general_solvers())
            if (solver->restarts) {
                add(*solver, &row, side::right, "in case " + name + " is too weak");
                plan_.tried.back().preconditioner += ":" + std::string(row.stronger);
            }
    }

    void add_matched(const matrix_statistics& matched) {
        const int longest = long_restart({.rows = s_.rows});
        for (const preconditioner_method* row : all_preconditioners) {
            if (!row->listed || row->needs_spd || row->only_for_nodes ||
                std::ranges::find(usable_, row) != usable_.end() ||
                !row->no_use_because.get()(matched).empty())
                continue;
            for (const solver_method* solver : general_solvers()) {
                if (solver->needs_symmetric) continue;
                add(*solver, row, side::right, "zeros on the diagonal: large entries come there",
                    solver->restarts ? longest : usual_restart);
                plan_.tried.back().match_rows = true;
            }
        }
    }

    /// Both scale rows, unlike a preconditioner on the right.
    void add_sides(const preconditioner_method& m) {
        const std::string scaled =
            fmt::format("the diagonal spans a factor of {:.1g}", span(s_.diagonal));
        const auto add_all = [&](side on_side) {
            for (const solver_method* solver : general_solvers())
                if (solver->has_sides) add(*solver, &m, on_side, scaled);
        };
        if (s_.diagonal.negative == 0)
            add_all(side::split);
        else
            leave_out(std::string(m.name) + " split: the diagonal has negative entries");
        add_all(side::left);
    }

    /// `m` is null for none.
    void add(const solver_method& solver, const preconditioner_method* m, side on_side,
             const std::string& because, int restart = usual_restart) {
        plan_.tried.push_back({std::string(solver.name),
                               m == nullptr ? identity::name() : std::string(m->name), on_side,
                               restart, because});
    }

    const matrix_statistics& s_;
    const row_sample& sample_;
    const matrix_statistics* matched_;                 ///< null: rows stay
    std::vector<const preconditioner_method*> usable_; ///< in the order of the table
    candidates plan_;
};

/// "gmres, bicgstab": the listed solvers that need a positive definite matrix, or don't.
std::string listed(bool needs_spd) {
    std::string names;
    for (const solver_method* row : all_solvers)
        if (row->listed && row->needs_spd == needs_spd)
            names += (names.empty() ? "" : ", ") + std::string(row->name);
    return names;
}

} // namespace

candidates choose_candidates(const matrix_statistics& s, const classification& kind,
                             const row_sample& sample, int block_size,
                             const matrix_statistics* matched) {
    if (kind.what == matrix_class::no_system) return {{}, {"every solver: " + kind.words}};
    planner plan(s, sample, block_size, matched);
    switch (kind.what) {
    case matrix_class::positive_definite:
    case matrix_class::positive_semidefinite:
        plan.positive_definite("symmetric, positive diagonal, dominant");
        plan.leave_out(listed(false) + ": " + listed(true) + " costs less on such a matrix");
        break;
    case matrix_class::positive_candidate:
        plan.positive_definite("symmetric, positive diagonal");
        plan.general("in case it is not positive definite");
        break;
    case matrix_class::negative_candidate:
        plan.leave_out(listed(true) + ": the diagonal is negative; -A x = -b may suit it");
        plan.general("symmetric, but not positive definite");
        break;
    case matrix_class::indefinite:
        plan.leave_out(listed(true) + ": not positive definite (" + kind.words + ")");
        plan.general("symmetric, but not positive definite");
        break;
    default:
        plan.leave_out(listed(true) + ": the matrix is not symmetric");
        plan.general("not symmetric");
    }
    return plan.result();
}

std::string name_of(const candidate& c) {
    std::string name =
        find_solver(c.solver).restarts ? fmt::format("{}({})", c.solver, c.restart) : c.solver;
    if (c.preconditioned()) name += " + " + c.preconditioner;
    if (c.preconditioned() && c.side != side::right)
        name += fmt::format(" ({})", to_string(c.side));
    return c.match_rows ? name + ", rows matched" : name;
}

} // namespace krylith::tool
