#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <krylith/tests/random_systems/judge.hpp>
#include <krylith/tests/random_systems/stored_system.hpp>
#include <krylith/tests/random_systems/trial.hpp>

namespace random_systems {

namespace {

/// Returns whether a preconditioner that divides by the diagonal must refuse the matrix: an entry
/// of the diagonal, its inverse or its square root is no finite number other than 0.
template <class T>
bool refusable(const krylith::csr_matrix<T>& a, bool split) {
    for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
        T entry = 0;
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            if (a.column_indices[static_cast<std::size_t>(k)] == static_cast<std::int32_t>(row))
                entry += a.values[static_cast<std::size_t>(k)];
        if (entry == 0 || !std::isfinite(1 / entry) || (split && entry < 0)) return true;
        if (1 / entry == 0) return true;
    }
    return false;
}

/// Returns whether a polynomial preconditioner may refuse it: an entry of the diagonal is not
/// positive, or the sizes in a row, or on the diagonal, are further apart than numbers reach.
template <class T>
bool refusable_by_polynomial(const krylith::csr_matrix<T>& a) {
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::size_t row = 0; row + 1 < a.row_offsets.size(); ++row) {
        double entry = 0;
        double sum = 0;
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const double value = a.values[static_cast<std::size_t>(k)];
            if (a.column_indices[static_cast<std::size_t>(k)] == static_cast<std::int32_t>(row))
                entry += value;
            sum += std::fabs(value);
        }
        if (!(entry > 0) || !std::isfinite(1 / entry) || !std::isfinite(sum / entry)) return true;
        smallest = std::min(smallest, entry);
        largest = std::max(largest, entry);
    }
    return largest / smallest > 0x1p240;
}

/// Returns whether each diagonal entry is larger than all others of its row together, and, for
/// preconditioners that need it, positive in a symmetric matrix. Incomplete factors of such a
/// matrix exist, and parts of it along the diagonal can be inverted.
template <class T>
bool dominated_by_diagonal(const krylith::csr_matrix<T>& a, bool positive) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> entries;
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
             k < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]); ++k)
            entries[{row, a.column_indices[k]}] += static_cast<double>(a.values[k]);
    std::vector<double> others(static_cast<std::size_t>(a.rows));
    for (const auto& entry : entries) {
        const auto [row, column] = entry.first;
        if (row != column) others[static_cast<std::size_t>(row)] += std::fabs(entry.second);
        const auto mirror = entries.find({column, row});
        if (positive && (mirror == entries.end() || mirror->second != entry.second)) return false;
    }
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const auto diagonal = entries.find({row, row});
        const double entry = diagonal == entries.end() ? 0 : diagonal->second;
        if (!(std::fabs(entry) > 1.001 * others[static_cast<std::size_t>(row)])) return false;
        if (positive && entry < 0) return false;
    }
    return true;
}

/// The sizes of the smallest and the largest value other than 0.
struct value_sizes {
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;

    template <class T>
    explicit value_sizes(const krylith::csr_matrix<T>& a) {
        for (const T value : a.values) {
            if (value == 0) continue;
            smallest = std::min(smallest, std::fabs(static_cast<double>(value)));
            largest = std::max(largest, std::fabs(static_cast<double>(value)));
        }
    }
};

/// Returns whether the quotient of two entries of the matrix, which factors of it are made of, may
/// be infinite in T. Where the diagonal dominates, pivots lose at most three digits of it.
template <class T>
bool quotients_may_overflow(const krylith::csr_matrix<T>& a) {
    const value_sizes sizes(a);
    return sizes.largest / sizes.smallest > 1e-3 * std::numeric_limits<T>::max();
}

/// Returns whether normal equations with rows of the matrix may be singular in T.
template <class T>
bool squares_differ_too_much(const krylith::csr_matrix<T>& a) {
    const auto [smallest, largest] = value_sizes(a);
    using limits = std::numeric_limits<T>;
    return largest / smallest > 1 / std::sqrt(limits::epsilon()) ||
           largest > std::sqrt(static_cast<double>(limits::max())) / static_cast<double>(a.rows) ||
           smallest < std::sqrt(static_cast<double>(limits::min()));
}

/// Returns whether a preconditioner may refuse the matrix.
template <class T>
bool may_refuse(const krylith::preconditioner_method& row, const krylith::csr_matrix<T>& a,
                krylith::side side) {
    using namespace krylith::preconditioner_rows;
    if (row.pointwise) return refusable(a, side == krylith::side::split);
    if (refusable_by_polynomial(a)) return true;
    const bool solves_parts = &row != &chebyshev && &row != &multigrid;
    return solves_parts &&
           (refusable(a, false) || !dominated_by_diagonal(a, row.needs_spd) ||
            quotients_may_overflow(a) || (&row == &spai && squares_differ_too_much(a)));
}

template <class T>
struct solved_trial {
    krylith::solve_result result;
    std::vector<T> b_after;
    std::vector<T> x;
};

template <class T>
solved_trial<T> solve_trial(const trial& t, const krylith::device_group& group,
                            const krylith::csr_matrix<T>& matrix, const std::vector<T>& rhs,
                            const std::vector<T>& x0, const krylith::solver_options& options) {
    const auto a = krylith::make_operator(group, matrix, t.operator_options);
    auto b = a->make_range_vector();
    auto other = a->make_range_vector();
    b.upload(rhs);
    other.upload(x0);
    auto& x = t.aliased ? b : other;
    solved_trial<T> s;
    try {
        auto m = krylith::make_preconditioner(t.preconditioner == nullptr ? "none"
                                                                          : t.preconditioner->name,
                                              *a, krylith::csr_view<T>(matrix));
        if (t.solver->needs_symmetric && !m.symmetric()) m = {}; // the solver would refuse it
        s.result = t.solver->solve(*a, b, x, options, m);
    } catch (const krylith::not_converged& failure) {
        s.result = failure.result();
    }
    s.b_after.resize(rhs.size());
    s.x.resize(rhs.size());
    b.download(s.b_after);
    x.download(s.x);
    return s;
}

/// Compares bits, so that NaN is itself and 0 isn't -0.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T one, T two) {
        return one == two ? std::signbit(one) == std::signbit(two) : one != one && two != two;
    });
}

template <class T>
void examine(outcome& o, const solved_trial<T>& s, const krylith::csr_matrix<T>& matrix,
             const std::vector<T>& rhs, const krylith::solver_options& options, bool aliased) {
    const krylith::solve_result& result = s.result;
    o.ending = krylith::to_string(result.reason);
    o.converged = result.converged();
    std::ostringstream text;
    const auto found = [&](finding what) {
        if (o.found == finding::sound) o.found = what;
    };
    const verdict v = check_convergence(matrix, rhs, s.x);
    const long double target = std::max<long double>(*options.rtol * v.rhs, options.atol);
    if (o.converged && !(v.finite && v.residual <= v.allowed(target))) {
        found(finding::false_convergence);
        text << "converged with " << (v.finite ? "" : "x not finite, ")
             << "||b - A x|| = " << v.residual << ", allowed are " << v.allowed(target)
             << " (target " << target << ", rounding " << v.rounding << ", ||b|| = " << v.rhs
             << ", said is " << result.true_residual << "). ";
    }
    const long double difference = std::fabs(v.residual - result.true_residual);
    const bool comparable = v.finite && std::isfinite(result.true_residual) &&
                            std::isfinite(static_cast<double>(v.residual));
    // The norm itself is a sum in fp64, and no double lies nearer than the least one.
    const long double slack = static_cast<long double>(s.x.size() + 8) * 1e-16L * v.residual +
                              std::numeric_limits<double>::denorm_min();
    if (comparable && !(difference <= v.rounding + slack)) {
        found(finding::misreported);
        text << "true_residual = " << result.true_residual << ", but ||b - A x|| = " << v.residual
             << " up to " << v.rounding << " (" << o.ending << "). ";
    }
    const auto n = static_cast<std::int64_t>(rhs.size());
    const std::int64_t limit = options.max_iterations >= 0 ? options.max_iterations
                                                           : std::min<std::int64_t>(10 * n, 10000);
    if (result.iterations < 0 || result.iterations > limit) {
        found(finding::failed);
        text << result.iterations << " iterations, allowed are " << limit << ". ";
    }
    if (!o.converged && result.diagnosis.empty()) {
        found(finding::failed);
        text << "no diagnosis of " << o.ending << ". ";
    }
    if (!aliased && !same(s.b_after, rhs)) {
        found(finding::failed);
        text << "b has changed. ";
    }
    o.details = text.str();
}

template <class T>
outcome run_trial_as(const trial& t, const krylith::device_group& group, std::uint64_t seed) {
    random_source random(~seed, t.index);
    const linear_system system = t.family->make(random, t.rows, range_of<T>());
    const auto matrix = stored<T>(system);
    const auto n = static_cast<std::size_t>(system.size());
    const std::vector<double> exact = random_vector(random, system.size());
    std::vector<double> wanted = system.rhs;
    if (wanted.empty())
        wanted = random.once_in(2) ? product(system, exact) : random_vector(random, system.size());
    const std::vector<T> rhs = stored<T>(wanted);

    std::vector<T> x0(n, std::numeric_limits<T>::quiet_NaN());
    if (t.from == start::given_zero) x0.assign(n, T(0));
    if (t.from == start::random) x0 = stored<T>(random_vector(random, system.size()));
    if (t.from == start::exact) x0 = stored<T>(exact);

    krylith::solver_options options = t.options;
    const long double size = check_convergence(matrix, rhs, std::vector<T>(n, T(0))).rhs;
    options.atol = std::min(static_cast<double>(t.relative_atol * size), 1e300);
    if (!group.concurrent() && options.mode == krylith::execution_mode::recorded)
        options.mode = krylith::execution_mode::automatic;

    outcome o;
    try {
        examine(o, solve_trial(t, group, matrix, rhs, x0, options), matrix, rhs, options,
                t.aliased);
    } catch (const krylith::input_error& e) {
        o.ending = "refused";
        if (t.preconditioner == nullptr ||
            !may_refuse(*t.preconditioner, matrix, t.options.preconditioning)) {
            o.found = finding::failed;
            o.details = e.what();
        }
    } catch (const std::exception& e) {
        o.ending = "threw";
        o.found = finding::failed;
        o.details = e.what();
    }
    return o;
}

} // namespace

outcome run(const trial& t, const krylith::device_group& group, std::uint64_t seed) {
    return t.single ? run_trial_as<float>(t, group, seed) : run_trial_as<double>(t, group, seed);
}

} // namespace random_systems
