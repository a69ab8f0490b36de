#include <krylith/solvers/column_solver.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <krylith/device/error.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/automatic.hpp>
#include <krylith/solvers/automatic/operator_plan.hpp>
#include <krylith/solvers/iteration/fitting_preconditioner.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith {

namespace {

constexpr std::string_view open_name = "auto";

/// Returns how joint loops apply the M of a row; nothing where they can't.
std::optional<joint_preconditioner> as_joint(const preconditioner_method* m) {
    if (m == nullptr) return joint_preconditioner::none;
    if (m->is_diagonal) return joint_preconditioner::jacobi;
    if (m->takes_columns) return joint_preconditioner::applied;
    return std::nullopt;
}

/// The text that makes the M of a planned method.
std::string in_words(const planned_method& method) {
    if (method.preconditioner == nullptr) return identity::name();
    std::string text(method.preconditioner->name);
    if (!method.parameters.empty()) text += ":" + std::string(method.parameters);
    return text;
}

/// Returns what in the options joint loops can't do; empty: nothing.
std::string refused_because(const operator_options& o) {
    if (o.kind != operators::automatic && o.kind != operators::halo)
        return std::string("operator ") + to_string(o.kind) + " was asked for";
    if (o.format != formats::automatic && o.format != formats::csr)
        return std::string("format ") + to_string(o.format) + " was asked for";
    if (o.order != orders::none)
        return std::string("row order ") + to_string(o.order) + " was asked for";
    if (o.measure) return "trials of operators were asked for";
    return {};
}

/// How many columns b and x of these sizes have; x says it where A has no rows.
template <class T>
std::size_t count_in(const csr_view<T>& a, std::size_t b, std::size_t x) {
    if (a.rows != 0) return b / static_cast<std::size_t>(a.rows);
    return a.columns != 0 ? x / static_cast<std::size_t>(a.columns) : 0;
}

/// Whether a column that a joint loop has left may be solved by what solves single ones.
bool may_be_solved_alone(const solve_result& result, bool automatic) {
    switch (result.reason) {
    case reason::interrupted:
    case reason::time_limit: return false;
    case reason::not_a_number: // loops for one column may scale r, or normalise it,
    case reason::attainable_accuracy: return true; // and go on from r in doubled precision
    default: return automatic && !result.converged();
    }
}

} // namespace

template <class T>
column_solver<T>::column_solver(const communicator& comm, const csr_view<T>& matrix, int columns,
                                const column_method& method, const solver_options& options,
                                const operator_options& multiply, const matrix_nodes& nodes)
    : comm_(comm),
      matrix_(matrix),
      method_(method),
      options_(options),
      multiply_(multiply),
      nodes_(nodes),
      solver_(&find_solver(method.solver)) {
    if (columns < 1)
        throw usage_error("columns is " + std::to_string(columns) + ", but must be at least 1");
    comm_.require_one_driver("column_solver");
    options_.check();
    const bool least_squares = matrix.rows != matrix.columns || options.damping != 0;
    if (least_squares && open()) solver_ = &solver_rows::lsqr;
    multiply_.transposed_products = solver_->least_squares || least_squares;
    one_by_one_because_ = choose(columns, method.at_once);
    if (!joint_ && !a_) make_single();
}

template <class T>
column_solver<T>::~column_solver() = default;

template <class T>
bool column_solver<T>::open() const {
    return solver_ == &solver_rows::automatic && method_.preconditioner == open_name;
}

template <class T>
std::string column_solver<T>::choose(int columns, bool at_once) {
    const bool automatic = solver_ == &solver_rows::automatic;
    std::string text =
        method_.preconditioner == open_name ? identity::name() : method_.preconditioner;
    const preconditioner_method* m = parse_preconditioner(text).method;
    if (!at_once) return "it was asked for";
    if (columns == 1) return "there is one column";
    if (std::string why = refused_because(multiply_); !why.empty()) return why;
    joint_method_ = solver_;
    side on = options_.preconditioning;
    if (automatic) {
        make_single();
        const bool choice_of_m = open();
        const matrix_ref<T> matrix(matrix_);
        const planned_method first = plan_for(*a_, options_, choice_of_m ? nullptr : &m_,
                                              choice_of_m ? &matrix : nullptr, nodes_)
                                         .front();
        joint_method_ = first.solver;
        if (choice_of_m) {
            m = first.preconditioner;
            text = in_words(first);
        }
        on = first.on_side;
        because_ = first.because;
        if (first.most_iterations > 0) joint_iterations_ = first.most_iterations;
    }
    const joint_maker<T> make = joint_method_->joint.template of<T>();
    if (make == nullptr)
        return "solver " + std::string(joint_method_->name) +
               " has no loop for several right-hand sides";
    const std::optional<joint_preconditioner> joint_m = as_joint(m);
    if (!joint_m)
        return "preconditioner " + std::string(m->name) +
               " is not applied to several right-hand sides at once";
    if (m != nullptr && joint_method_->has_sides && on != side::right)
        return std::string("preconditioners on side ") + to_string(on) +
               " are for one right-hand side at a time";
    a_.reset(); // the loop has the matrix in a form of its own; m_ is made with a_ if M was named
    m_ = {};
    column_preconditioner<T> made(*joint_m);
    made.block_size = nodes_.block_size;
    made.make = [&](const matrix_operator<T>& of_columns) {
        any_preconditioner<T> result = make_preconditioner(text, of_columns, matrix_, nodes_);
        check_preconditioner(result, joint_method_->name, joint_method_->takes_varying,
                             joint_method_->needs_spd || joint_method_->needs_symmetric);
        return result;
    };
    joint_m_ = *joint_m;
    try {
        make_joint(make, made, columns);
    } catch (const interrupted_error&) {
        throw;
    } catch (const error& failure) { // as of memory, or of a coarse matrix that isn't definite
        if (!open()) throw;
        return failure.what(); // single columns have other methods to go on with
    }
    return {};
}

template <class T>
void column_solver<T>::make_joint(joint_maker<T> make, const column_preconditioner<T>& m,
                                  int columns) {
    solver_options plain = options_;
    plain.history = false;
    plain.callback = {};
    joint_ = make(comm_, matrix_, columns, m, plain);
}

template <class T>
void column_solver<T>::make_single() {
    if (a_) return;
    multiply_.block_size = nodes_.block_size;
    a_ = make_operator(comm_, matrix_, multiply_);
    if (method_.preconditioner != open_name)
        m_ = make_preconditioner(method_.preconditioner, *a_, matrix_, nodes_);
}

template <class T>
std::string column_solver<T>::solver_name() const {
    return std::string((joint_ ? joint_method_ : solver_)->name);
}

template <class T>
std::string column_solver<T>::preconditioner_name() const {
    if (joint_ && joint_m_ == joint_preconditioner::jacobi)
        return std::string(preconditioner_rows::jacobi.name);
    return preconditioner().name();
}

template <class T>
const any_preconditioner<T>& column_solver<T>::preconditioner() const {
    return joint_ ? joint_->preconditioner() : m_;
}

template <class T>
std::size_t column_solver<T>::check(std::span<const T> b, std::span<const T> x) const {
    const auto rows = static_cast<std::size_t>(matrix_.rows);
    const auto width = static_cast<std::size_t>(matrix_.columns);
    const std::size_t count = count_in(matrix_, b.size(), x.size());
    if (b.size() != count * rows || x.size() != count * width)
        throw usage_error(
            "b has " + std::to_string(b.size()) + " entries and x has " + std::to_string(x.size()) +
            ": both must have the same number of columns, of " + std::to_string(rows) +
            " entries in b and of " + std::to_string(width) + " in x");
    const auto bad = std::ranges::find_if_not(b, [](T value) { return std::isfinite(value); });
    if (bad != b.end()) {
        const auto place = static_cast<std::size_t>(bad - b.begin());
        throw input_error("entry " + std::to_string(place % rows) + " of right-hand side " +
                          std::to_string(place / rows) + " (counted from 0) is " +
                          std::to_string(*bad) + ", allowed are finite numbers");
    }
    return count;
}

template <class T>
std::vector<solve_result> column_solver<T>::solve(std::span<const T> b, std::span<T> x) {
    using clock = std::chrono::steady_clock;
    const auto began = clock::now();
    const std::size_t count = check(b, x);
    const auto rows = static_cast<std::size_t>(matrix_.rows);
    const auto width = static_cast<std::size_t>(matrix_.columns);
    // A column that fails doesn't keep the others from being solved.
    solver_options options = options_;
    options.on_failure = failure_policy::status;
    std::vector<T> guess;
    if (joint_ && options.initial_guess) guess.assign(x.begin(), x.end());
    std::vector<solve_result> results;
    if (joint_) results = solve_at_once(b, x, options);
    results.resize(count);
    for (std::size_t j = 0; j < count; ++j) {
        if (joint_ && !may_be_solved_alone(results[j], solver_ == &solver_rows::automatic))
            continue;
        const double passed = std::chrono::duration<double>(clock::now() - began).count();
        options.max_seconds = std::max(0.0, options_.max_seconds - passed);
        const std::span<T> xj = x.subspan(j * width, width);
        if (!guess.empty())
            std::copy_n(guess.begin() + static_cast<std::ptrdiff_t>(j * width), width, xj.begin());
        results[j] = solve_alone(b.subspan(j * rows, rows), xj, options);
    }
    if (options_.on_failure == failure_policy::throw_error)
        for (const solve_result& result : results)
            if (!result.converged()) throw not_converged(result);
    return results;
}

template <class T>
std::vector<solve_result> column_solver<T>::solve_at_once(std::span<const T> b, std::span<T> x,
                                                          const solver_options& options) {
    joint_->options() = options;
    if (options.max_iterations < 0) joint_->options().max_iterations = joint_iterations_;
    std::vector<solve_result> results = joint_->solve(b, x);
    if (solver_ != &solver_rows::automatic) return results;
    for (solve_result& result : results) {
        solve_attempt attempt;
        attempt.solver = solver_name();
        attempt.preconditioner = preconditioner_name();
        if (joint_method_->has_sides) attempt.side = to_string(side::right);
        attempt.because = because_;
        attempt.reason = result.reason;
        attempt.iterations = result.iterations;
        attempt.seconds = attempt.solve_seconds = result.solve_seconds;
        attempt.relative_residual = result.relative_residual();
        result.attempts.push_back(std::move(attempt));
    }
    return results;
}

template <class T>
solve_result column_solver<T>::solve_alone(std::span<const T> b, std::span<T> x,
                                           const solver_options& options) {
    make_single();
    if (!b_) {
        b_.emplace(a_->make_range_vector("b"));
        x_.emplace(a_->domain_layout(), "x");
    }
    b_->upload(b);
    if (options.initial_guess) x_->upload(x);
    solve_result result;
    if (open())
        result = krylith::solve(*a_, matrix_, *b_, *x_, options, nodes_);
    else if (solver_ == &solver_rows::automatic)
        result = krylith::solve(*a_, *b_, *x_, options, m_);
    else
        result = solver_->solve(*a_, *b_, *x_, options, m_);
    x_->download(x);
    return result;
}

template <class T>
std::vector<solve_result> solve_columns(const communicator& comm, const csr_view<T>& matrix,
                                        std::type_identity_t<std::span<const T>> b,
                                        std::type_identity_t<std::span<T>> x,
                                        const solver_options& options, const matrix_nodes& nodes) {
    const std::size_t columns = std::max<std::size_t>(1, count_in(matrix, b.size(), x.size()));
    return column_solver<T>(comm, matrix, static_cast<int>(columns), {}, options, {}, nodes)
        .solve(b, x);
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template class column_solver<T>;                                                               \
    template std::vector<solve_result> solve_columns(const communicator&, const csr_view<T>&,      \
                                                     std::span<const T>, std::span<T>,             \
                                                     const solver_options&, const matrix_nodes&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
