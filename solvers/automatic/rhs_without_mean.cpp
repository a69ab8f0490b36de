// Systems whose matrix maps constants to 0, and whose b has a mean that no A x has.
#include <krylith/solvers/automatic/attempts.hpp>

#include <limits>
#include <utility>

#include <krylith/device/messages/number_text.hpp>
#include <krylith/precond/constant_null_space.hpp>
#include <krylith/solvers/concepts.hpp>
#include <krylith/spmv/operator_facts.hpp>
#include <krylith/vector/fused.hpp>

namespace krylith {

template <class T>
bool attempts<T>::takes_mean_from_rhs() {
    const auto& facts = a_.kept().facts;
    if (std::exchange(asked_for_mean_, true) || facts == nullptr || !facts->symmetric ||
        !a_.knows_diagonal() || options_.damping != 0)
        return false;
    const constant_null_space<T> constants(a_);
    auto ones = a_.make_domain_vector();
    auto image = a_.make_range_vector();
    auto diagonal = a_.make_range_vector();
    a_.diagonal(diagonal);
    execution run(a_.comm(), {.timeout_seconds = options_.timeout_seconds});
    double of_image = 0;
    double of_diagonal = 0;
    try {
        scalar ii(run);
        scalar dd(run);
        fused(run, ones = constants.ones(), dd = dot(diagonal, diagonal));
        multiply(run, a_, ones, image, ii = dot(image, image));
        of_image = run.get(ii.number());
        of_diagonal = run.get(dd.number());
        a_.comm().synchronize();
    } catch (...) {
        run.quiesce(); // peers write into the vectors, which are about to be freed
        throw;
    }
    // Entries of a row that add up to 0 do so but for their roundings.
    constexpr double rounding = 100.0 * std::numeric_limits<T>::epsilon();
    if (!(of_image <= rounding * rounding * of_diagonal)) return false;
    copy(*b_, b_without_mean_.emplace(b_->layout()));
    mean_of_b_ = constants.remove(*b_without_mean_);
    return mean_of_b_ > *resolved<T>(options_).rtol;
}

template <class T>
std::optional<solve_result> attempts<T>::run_without_mean(std::span<const planned_method> plan,
                                                          const any_preconditioner<T>* given,
                                                          double rhs_norm) {
    std::vector<planned_method> methods;
    for (const planned_method& method : plan)
        if (method.solver->needs_spd) {
            methods.push_back(method);
            methods.back().because = "A maps constants to 0: b without its mean";
        }
    if (methods.empty()) return std::nullopt;
    if (guess_) copy(*guess_, x_);
    best_.reset();
    const vector<T>* const whole = std::exchange(b_, &*b_without_mean_);
    solve_result result = run(methods, given);
    b_ = whole;
    if (!result.converged() && !was_stopped(result)) {
        tried_ = std::move(result.attempts);
        best_.reset();
        if (guess_) copy(*guess_, x_);
        return std::nullopt;
    }
    const bool solved = result.converged();
    result.rhs_norm = rhs_norm;
    result.true_residual = residual_norm(x_);
    if (!solved) return result;
    result.attempts.back().relative_residual = result.relative_residual();
    result.reason = reason::stagnated;
    result.diagnosis = "A maps constants to 0, as with Neumann conditions all around, and the mean "
                       "of b, " +
                       number_text(mean_of_b_, 2) +
                       " of ||b||, is no A x: this x has the least residual. Take the mean from b "
                       "(constant_null_space), or hold an entry of x";
    return result;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template bool attempts<T>::takes_mean_from_rhs();                                              \
    template std::optional<solve_result> attempts<T>::run_without_mean(                            \
        std::span<const planned_method>, const any_preconditioner<T>*, double);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
