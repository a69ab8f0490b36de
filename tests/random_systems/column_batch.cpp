#include <krylith/tests/random_systems/column_batch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/solvers/column_solver.hpp>

#include <krylith/tests/random_systems/judge.hpp>
#include <krylith/tests/random_systems/stored_system.hpp>

namespace random_systems {

using krylith::execution_mode;
using krylith::reason;
using krylith::solve_result;

namespace {

/// The solvers that have joint loops, and the preconditioners that these apply.
std::vector<const krylith::solver_method*> joint_solvers() {
    std::vector<const krylith::solver_method*> all;
    for (const krylith::solver_method* row : krylith::all_solvers)
        if (row->joint.fp64 != nullptr) all.push_back(row);
    return all;
}
std::vector<const krylith::preconditioner_method*> joint_preconditioners() {
    std::vector<const krylith::preconditioner_method*> all = {nullptr, nullptr};
    for (const krylith::preconditioner_method* row : krylith::all_preconditioners)
        if (row->is_diagonal || row->takes_columns) all.push_back(row);
    return all;
}

/// Right-hand sides or guesses, one after the other.
struct columns {
    std::vector<double> b;
    std::vector<double> x0;
};

std::vector<double> times(std::vector<double> v, double factor) {
    for (double& value : v) value *= factor;
    return v;
}

/// A right-hand side and a guess of any size; b = 0 once in a while.
void add_column(columns& to, random_source& random, const linear_system& system,
                const number_range& range) {
    const int n = system.size();
    const std::vector<double> exact = random_vector(random, n);
    std::vector<double> b = random.once_in(2)     ? product(system, exact)
                            : !system.rhs.empty() ? system.rhs
                                                  : random_vector(random, n);
    const double size = random.pick(
        {1.0, 1.0, random.decade(-30, 30), random.decade(-range.largest, range.largest)});
    if (random.once_in(8)) b.assign(b.size(), 0.0);
    if (random.once_in(8)) std::fill(b.begin() + 1, b.end(), 0.0);
    const double off = random.pick({0.0, size, size, random.decade(-10, 10) * size});
    const std::vector<double> guess = random.once_in(3) ? exact : random_vector(random, n);
    for (const double value : times(b, size)) to.b.push_back(value);
    for (const double value : times(guess, off)) to.x0.push_back(value);
}

/// What came of solving the columns.
template <class T>
struct solved_columns {
    std::vector<solve_result> results;
    std::vector<T> x;
    std::string threw;
};

template <class T>
solved_columns<T> solve_columns(const column_batch& t, const krylith::device_group& group,
                                const krylith::csr_matrix<T>& a, const std::vector<T>& b,
                                const std::vector<T>& x0, const krylith::solver_options& options,
                                int columns, bool at_once) {
    solved_columns<T> s;
    s.x = x0;
    try {
        const krylith::column_method method{
            .solver = std::string(t.solver->name),
            .preconditioner =
                t.preconditioner == nullptr ? "none" : std::string(t.preconditioner->name),
            .at_once = at_once};
        s.results =
            krylith::column_solver<T>(group, krylith::csr_view<T>(a), columns, method, options)
                .solve(b, s.x);
    } catch (const krylith::error& e) { // as of an M that can't be made
        s.threw = e.what();
    }
    return s;
}

/// Whether two numbers of iterations differ by rounding alone, which the recurrences of BiCGStab
/// amplify most.
bool alike(std::int64_t a, std::int64_t b, const krylith::solver_method& solver) {
    const bool erratic = &solver == &krylith::solver_rows::bicgstab;
    return std::abs(a - b) <= (erratic ? 10 + 4 * std::min(a, b) : 4 + std::min(a, b) / 2);
}

/// A column, solved at once with others and alone.
struct pair {
    solve_result joint;
    solve_result alone;
    verdict at_once;
    verdict by_itself;
    verdict start; ///< of x0
};

/// Says what is wrong with a column beside the same one alone; empty: nothing.
std::string compare(const pair& p, const krylith::solver_options& options, std::int64_t limit,
                    std::int64_t rows, const krylith::solver_method& solver) {
    const solve_result& joint = p.joint;
    const verdict& v = p.at_once;
    const long double target = std::max<long double>(*options.rtol * v.rhs, options.atol);
    if (joint.converged() && !(v.finite && v.residual <= v.allowed(target)))
        return "false convergence";
    if (!joint.converged() && joint.diagnosis.empty()) return "no diagnosis";
    if (v.rhs == 0 && !(joint.converged() && joint.iterations == 0 && v.residual == 0))
        return "b = 0 is not solved by x = 0";
    const long double said = joint.true_residual;
    const long double slack =
        v.rounding + 1e-14L * v.residual + std::numeric_limits<double>::denorm_min();
    if (v.finite && std::isfinite(joint.true_residual) &&
        std::isfinite(static_cast<double>(v.residual)) && std::fabs(said - v.residual) > slack)
        return "misreported residual";
    if (joint.converged())
        return !p.alone.converged() || alike(joint.iterations, p.alone.iterations, solver)
                   ? ""
                   : "another number of iterations";
    // A residual that rounding makes is luck, and so is where BiCGStab gets beyond its n steps.
    const bool near = v.finite && v.residual <= target + v.rounding + p.start.rounding;
    const bool by_chance = &solver == &krylith::solver_rows::bicgstab && p.alone.iterations > rows;
    if (near || by_chance) return "";
    if (p.alone.converged()) {
        const bool ran_out = joint.reason == reason::max_iterations &&
                             alike(p.alone.iterations, limit, solver); // it may need a few more
        return ran_out ? "" : "doesn't converge";
    }
    if (joint.reason == p.alone.reason) return "";
    if (joint.reason == reason::not_a_number) return "a NaN";
    const long double first = std::max(v.rhs, p.start.residual);
    const bool as_good = v.finite && v.residual <= 4 * p.by_itself.residual + slack;
    const bool both_grew =
        v.residual >= first && (!p.by_itself.finite || p.by_itself.residual >= first);
    const bool says_why = joint.reason == reason::indefinite_matrix ||
                          joint.reason == reason::indefinite_preconditioner ||
                          joint.reason == reason::out_of_range ||
                          p.alone.reason == reason::not_a_number;
    return as_good || both_grew || says_why ? "" : "another reason";
}

/// Whether x'A y = y'A x but for rounding.
bool symmetric(const linear_system& system, random_source& random) {
    const std::vector<double> x = random_vector(random, system.size());
    const std::vector<double> y = random_vector(random, system.size());
    const std::vector<double> of_x = product(system, x);
    const std::vector<double> of_y = product(system, y);
    const double left = std::inner_product(x.begin(), x.end(), of_y.begin(), 0.0);
    const double right = std::inner_product(y.begin(), y.end(), of_x.begin(), 0.0);
    double size = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        size += std::fabs(x[i] * of_y[i]) + std::fabs(y[i] * of_x[i]);
    return std::fabs(left - right) <= 1e-12 * size;
}

/// A system and a guess that differ from others by a few roundings.
template <class T>
struct neighbour {
    krylith::csr_matrix<T> a;
    std::vector<T> b;
    std::vector<T> x0;

    neighbour(const krylith::csr_matrix<T>& matrix, const std::vector<T>& rhs,
              const std::vector<T>& guess, random_source& random)
        : a(matrix), b(rhs), x0(guess) {
        const auto factor = [&random] {
            return static_cast<T>(1 + 4 * random.symmetric() * std::numeric_limits<T>::epsilon());
        };
        std::vector<T> scales(b.size()); // D A D keeps symmetry and rank
        for (T& scale : scales) scale = factor();
        for (std::size_t row = 0; row < scales.size(); ++row)
            for (auto k = static_cast<std::size_t>(a.row_offsets[row]);
                 k < static_cast<std::size_t>(a.row_offsets[row + 1]); ++k)
                a.values[k] *= scales[row] * scales[static_cast<std::size_t>(a.column_indices[k])];
        for (T& value : b) value *= factor();
        for (T& value : x0) value *= factor();
    }
};

/// Whether a column that ends in another way at once than alone does so because rounding decides:
/// some system beside its own, solved alone, ends as the column does at once.
template <class T, class Same>
bool rounding_decides(const column_batch& t, const krylith::device_group& group,
                      const krylith::csr_matrix<T>& a, const std::vector<T>& b,
                      const std::vector<T>& x0, const krylith::solver_options& options,
                      random_source& random, const Same& same) {
    for (int trial = 0; trial < 40; ++trial) {
        const neighbour<T> beside(a, b, x0, random);
        const auto alone =
            solve_columns(t, group, beside.a, beside.b, beside.x0, options, 1, false);
        if (!alone.threw.empty()) continue;
        if (same(alone.results.front(), check_convergence(beside.a, beside.b, alone.x)))
            return true;
    }
    return false;
}

template <class T>
outcome run_batch_as(const column_batch& t, const krylith::device_group& group,
                     std::uint64_t seed) {
    random_source random(~seed, t.index);
    const number_range range = range_of<T>();
    linear_system system = t.family->make(random, t.rows, range);
    const double factor = std::pow(10.0, t.matrix_size * range.largest);
    for (auto& row : system.rows)
        for (entry& e : row) e.value *= factor;
    const auto a = stored<T>(system);
    columns c;
    for (int j = 0; j < t.columns; ++j) add_column(c, random, system, range);
    // What a solver for symmetric matrices makes of others is neither's promise.
    const bool promised = !t.solver->needs_symmetric || symmetric(system, random);
    const std::vector<T> b = stored<T>(c.b);
    const std::vector<T> x0 = stored<T>(c.x0);

    krylith::solver_options options = t.options;
    if (!group.concurrent() && options.mode == execution_mode::recorded)
        options.mode = execution_mode::automatic;
    const solved_columns<T> at_once = solve_columns(t, group, a, b, x0, options, t.columns, true);
    const solved_columns<T> alone = solve_columns(t, group, a, b, x0, options, t.columns, false);
    outcome o;
    if (!at_once.threw.empty() || !alone.threw.empty()) {
        o.ending = "refused";
        if (at_once.threw == alone.threw) return o;
        o.found = finding::failed;
        o.details = "at once: " + at_once.threw + "\n    alone: " + alone.threw;
        return o;
    }
    const auto n = static_cast<std::size_t>(system.size());
    const std::int64_t limit = options.max_iterations >= 0
                                   ? options.max_iterations
                                   : std::min<std::int64_t>(10 * system.size(), 10000);
    o.ending = "alike";
    o.converged = true;
    std::ostringstream text;
    for (std::size_t j = 0; j < at_once.results.size(); ++j) {
        const auto part = [&](const std::vector<T>& of) {
            const auto begin = of.begin() + static_cast<std::ptrdiff_t>(j * n);
            return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(n));
        };
        const std::vector<T> rhs = part(b);
        const std::vector<T> guess = options.initial_guess ? part(x0) : std::vector<T>(n);
        const pair p{at_once.results[j], alone.results[j],
                     check_convergence(a, rhs, part(at_once.x)),
                     check_convergence(a, rhs, part(alone.x)), check_convergence(a, rhs, guess)};
        o.converged = o.converged && p.joint.converged();
        const std::string wrong = compare(p, options, limit, system.size(), *t.solver);
        if (wrong.empty()) continue;
        const auto same = [&](const solve_result& beside, const verdict& v) {
            const pair with{p.joint, beside, p.at_once, v, p.start};
            return compare(with, options, limit, system.size(), *t.solver).empty();
        };
        const bool is_luck = wrong == "another number of iterations" ||
                             wrong == "doesn't converge" || wrong == "another reason";
        if (is_luck && !promised) {
            if (o.found == finding::sound) o.ending = "not symmetric";
            continue;
        }
        if (is_luck && rounding_decides(t, group, a, rhs, part(x0), options, random, same)) {
            if (o.found == finding::sound) o.ending = "rounding decides";
            continue;
        }
        if (o.found == finding::sound) o.ending = wrong;
        o.found = wrong == "false convergence" ? finding::false_convergence : finding::failed;
        const auto tell = [&](const char* how, const solve_result& r, const verdict& v) {
            text << how << ' ' << krylith::to_string(r.reason) << " after " << r.iterations
                 << ", residual " << v.residual << " (said " << r.true_residual << ", rounding "
                 << v.rounding << ")";
        };
        text << (text.tellp() > 0 ? "\n    " : "") << "column " << j << ": " << wrong
             << ": ||b|| = " << p.at_once.rhs;
        tell("; at once", p.joint, p.at_once);
        tell("; alone", p.alone, p.by_itself);
    }
    o.details = text.str();
    return o;
}

} // namespace

outcome run(const column_batch& t, const krylith::device_group& group, std::uint64_t seed) {
    return t.single ? run_batch_as<float>(t, group, seed) : run_batch_as<double>(t, group, seed);
}

column_batch draw_columns(std::uint64_t seed, std::uint64_t index,
                          std::initializer_list<int> group_sizes) {
    random_source random(seed, index);
    const auto& kinds = all_kinds();
    column_batch t;
    t.index = index;
    t.family = &kinds[index % kinds.size()];
    t.rows = std::min(random.integer(1, random.pick({3, 12, 40})), t.family->most_rows);
    t.columns = random.pick({2, 3, 4, 5, 9, 19});
    t.solver = random.pick(joint_solvers());
    t.single = random.once_in(2);
    t.preconditioner = random.pick(joint_preconditioners());
    if (random.once_in(3)) t.matrix_size = 0.7 * random.symmetric();
    t.devices = std::min(random.pick(group_sizes), 3);
    t.options.rtol = random.decade(t.single ? -6 : -12, -2);
    if (random.once_in(6)) t.options.max_iterations = random.integer(0, t.rows + 2);
    t.options.restart = random.pick({2, 5, 30, 30});
    t.options.initial_guess = random.once_in(3);
    t.options.preconditioning = krylith::side::right;
    t.options.mode =
        random.pick({execution_mode::automatic, execution_mode::recorded, execution_mode::eager});
    t.options.unroll = random.pick({1, 3, 16});
    return t;
}

std::string column_batch::describe() const {
    std::ostringstream text;
    text << index << ": " << family->name << " n<=" << rows << ", " << columns << " columns, "
         << solver->name << (single ? " fp32" : " fp64") << ' '
         << (preconditioner == nullptr ? "plain" : preconditioner->name.data()) << ", A times 10^("
         << matrix_size << " of the range)" << (options.initial_guess ? ", guesses" : "") << ", "
         << devices << " devices, rtol " << *options.rtol << ", restart " << options.restart
         << ", max " << options.max_iterations;
    return text.str();
}

} // namespace random_systems
