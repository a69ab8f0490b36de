// Solves that keep what they need for the next: vectors, execution and recorded loop.
//
// A method is a loop and a struct that chooses it (solvers/cg.hpp is the model). A loop is a class
// of the solve's own vectors and scalars, which is made of an iteration and the options. It has
// - start(), which begins the recurrence from r = b - A x;
// - iterate(), one iteration or cycle, which ends with test_residual() or finish_cycle();
// - r(), the residual that start() finds, and direction(), a domain vector that is scratch until
// then;
// - name, for messages;
// - and, where they differ, the members of default_loop.
// It works on it.x(), never on the caller's x, and reads b by it.keep_rhs() alone.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <krylith/device/host/group_driver.hpp>
#include <krylith/solvers/iteration.hpp>
#include <krylith/solvers/iteration/agreed_options.hpp>
#include <krylith/solvers/iteration/fitting_preconditioner.hpp>
#include <krylith/vector/kept/recording_identity.hpp>
#include <krylith/vector/kept/workspace_shelf.hpp>

namespace krylith {

/// What most loops have alike.
template <linear_operator A, preconditioner<typename A::value_type> M>
struct default_loop {
    using operator_type = A;
    using preconditioner_type = M;
    using value_type = typename A::value_type;

    /// Whether iterate() is a whole cycle, and one trip of the recorded loop.
    static constexpr bool cycles = false;
    /// Whether iterate() goes on until the loop stops.
    static constexpr bool whole = false;
    /// Whether iterate() does nothing once the loop has stopped: a solve may then be enqueued
    /// before it is known whether there is anything to iterate.
    static constexpr bool stops_at_once = true;
    /// Whether it minimises ||b - A x|| for any m x n A. Its r() is a vector that A' can multiply.
    static constexpr bool least_squares = false;
    /// Whether M may differ from one application to the next, and whether it must be symmetric.
    static constexpr bool takes_varying = false;
    static constexpr bool needs_symmetric = false;
    /// The batches and the array that the loop needs.
    [[nodiscard]] static execution_options sizes(const A&, const solver_options&) { return {}; }
    /// The options of the iteration around the loop.
    [[nodiscard]] static solver_options loop_options(const solver_options& options) {
        return options;
    }
    /// Looks at the result after the solve.
    void conclude(solve_result&) {}
};

namespace detail {

/// A loop with its iteration, which solves one system after the other.
template <class Loop>
class kept_solve final : public kept_workspace {
public:
    using A = typename Loop::operator_type;
    using M = typename Loop::preconditioner_type;
    using T = typename A::value_type;

    kept_solve(const A& a, const M& m, const solver_options& options)
        : it_(a, m, Loop::loop_options(options), Loop::sizes(a, options), Loop::cycles,
              Loop::least_squares),
          loop_(it_, options) {
        it_.run().keep_registers();
        it_.run().rest();
    }

    /// How well it serves: 0 not at all, 1 but has to record, 2 as it is. A preconditioner that is
    /// still there keeps its workspace.
    [[nodiscard]] int serves(const A& a, const M& m, const solver_options& options) const {
        if (!it_.suits(a, m, Loop::loop_options(resolved<T>(options)))) return 0;
        if (contains(a, m)) return 2;
        return is_identity(m) || m_.is(identity_of(m)) || !m_.lives() ? 1 : 0;
    }

    [[nodiscard]] solve_result solve(const A& a, const M& m, const vector<T>& b, vector<T>& x,
                                     const solver_options& options) {
        if (!contains(a, m)) {
            it_.run().forget_recording();
            a_ = recorded_object(identity_of(a));
            m_ = recorded_object(identity_of(m));
            if constexpr (Loop::least_squares)
                transposed_ = recorded_object(identity_of(a.transposed()));
        }
        auto result = it_.solve(m, b, x, Loop::loop_options(options), loop_);
        loop_.conclude(result);
        return result;
    }

private:
    /// Whether the recording is of these.
    [[nodiscard]] bool contains(const A& a, const M& m) const {
        if constexpr (Loop::least_squares)
            if (!transposed_.is(identity_of(a.transposed()))) return false;
        return a_.is(identity_of(a)) && (is_identity(m) || m_.is(identity_of(m)));
    }

    iteration<A, M> it_;
    Loop loop_;
    recorded_object a_;
    recorded_object m_;
    recorded_object transposed_; ///< A', in least squares
};

/// Throws usage_error for what a solve by the loop can't take.
template <class Loop>
void check_arguments(const typename Loop::operator_type& a,
                     const vector<typename Loop::value_type>& b,
                     const vector<typename Loop::value_type>& x, const solver_options& options,
                     const typename Loop::preconditioner_type& m) {
    if constexpr (Loop::least_squares) {
        options.check();
    } else {
        check_square(a, Loop::name);
        options.check_undamped(Loop::name);
    }
    check_preconditioner(m, Loop::name, Loop::takes_varying, Loop::needs_symmetric);
    if (b.layout() != range_layout_of(a) || x.layout() != domain_layout_of(a))
        throw usage_error("b and x of a solve must be vectors of its operator");
}

/// Whether the next solve of this kind would do as well with the vectors that this one leaves:
/// those of a failed one may hold infinities.
[[nodiscard]] inline bool leaves_numbers(const solve_result& result) {
    return result.converged() || result.reason == reason::max_iterations ||
           result.reason == reason::stagnated || result.reason == reason::attainable_accuracy;
}

} // namespace detail

/// Solves A x = b by the loop, with a workspace from the shelf if one fits, and leaves the
/// workspace there. A workspace of a solve that throws, or ends in numbers that are not finite, is
/// freed, and so is that of a split preconditioner, whose halves are made anew in every solve.
template <class Loop>
solve_result solve_with(workspace_shelf& shelf, const typename Loop::operator_type& a,
                        const vector<typename Loop::value_type>& b,
                        vector<typename Loop::value_type>& x, const solver_options& given,
                        const typename Loop::preconditioner_type& m) {
    using workspace = detail::kept_solve<Loop>;
    const communicator comm = range_layout_of(a)->comm;
    std::optional<group_driver> driver; // also where workspaces are freed
    // All drivers take a workspace, or none does, so that their shelves stay alike.
    const solver_options options = comm.together([&] {
        detail::check_arguments<Loop>(a, b, x, given, m);
        driver.emplace(comm.devices());
        return agreed_options(comm, resolved<typename Loop::value_type>(given), Loop::name);
    });
    auto work = shelf.take<workspace>([&](const workspace& w) { return w.serves(a, m, options); });
    const auto make = [&] {
        return comm.together([&] { return std::make_unique<workspace>(a, m, options); });
    };
    if (!work) {
        try {
            work = make();
        } catch (const device_error&) {
            if (shelf.empty()) throw;
            shelf.release(); // memory may be short because of what is kept
            work = make();
        }
    }
    auto result = comm.together([&] { return work->solve(a, m, b, x, options); });
    const bool split = options.preconditioning == side::split && !is_identity(m);
    if (detail::leaves_numbers(result) && !split) shelf.put(std::move(work));
    return result;
}

/// Solves by a method: with the workspaces that the operator keeps (matrix_operator::workspaces()),
/// or with one for this solve alone where it keeps none.
template <class Method, linear_operator A, preconditioner<typename A::value_type> M>
solve_result solve_by(const A& a, const vector<typename A::value_type>& b,
                      vector<typename A::value_type>& x, const solver_options& options,
                      const M& m) {
    if constexpr (requires {
                      { a.workspaces() } -> std::convertible_to<workspace_shelf&>;
                  }) {
        return Method::solve(a.workspaces(), a, b, x, options, m);
    } else {
        workspace_shelf shelf;
        return Method::solve(shelf, a, b, x, options, m);
    }
}

/// A solver that keeps its workspace and what it has recorded for as long as it lives:
///
///     cg_solver solver(*a, m, {.initial_guess = true}); // keeps its vectors and its recording
///     ...
///     a->update(matrix.values);
///     m.update(*a);
///     ...
///     const solve_result result = solver(b, u);
///
/// b and x may be other vectors in every call. New values of A and M, tolerances, limits and
/// callbacks need no new recording. It refers to A and M, which outlive it. One thread at a time.
template <class Method, linear_operator A, preconditioner<typename A::value_type> M = identity>
class solver {
public:
    using T = typename A::value_type;

    solver(const A& a, const M& m, solver_options options = {})
        : a_(a), m_(&m), options_(std::move(options)) {}
    explicit solver(const A& a, solver_options options = {}) requires std::same_as<M, identity>
        : a_(a), m_(&none), options_(std::move(options)) {}

    solve_result operator()(const vector<T>& b, vector<T>& x) {
        return Method::solve(shelf_, a_, b, x, options_, *m_);
    }

    /// The options of the next solve. Those that change what is recorded or how much memory it
    /// takes (restart, polynomial_degree, shadow_vectors, whether damping is 0, preconditioning,
    /// history, mode, unroll, timeout_seconds) cost another set-up.
    [[nodiscard]] solver_options& options() { return options_; }
    /// Frees what is kept. The next solve allocates and records anew.
    void release_workspace() { shelf_.release(); }

private:
    static constexpr identity none{};

    const A& a_;
    const M* m_;
    solver_options options_;
    workspace_shelf shelf_;
};

} // namespace krylith
