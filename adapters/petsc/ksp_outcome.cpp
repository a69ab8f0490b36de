#include <krylith/adapters/petsc/ksp_outcome.hpp>

#include <cstddef>

#include <krylith/adapters/petsc/checked.hpp>

namespace krylith::petsc {

namespace {

KSPConvergedReason reason_of(KSP ksp, reason why) {
    switch (why) {
    case reason::converged_rtol: return KSP_CONVERGED_RTOL;
    case reason::converged_atol: return KSP_CONVERGED_ATOL;
    case reason::happy_breakdown: return KSP_CONVERGED_HAPPY_BREAKDOWN;
    case reason::max_iterations: {
        const auto* const test = static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
        return test->convmaxits ? KSP_CONVERGED_ITS : KSP_DIVERGED_ITS;
    }
    case reason::time_limit: return KSP_DIVERGED_ITS;
    case reason::diverged: return KSP_DIVERGED_DTOL;
    case reason::indefinite_matrix: return KSP_DIVERGED_INDEFINITE_MAT;
    case reason::indefinite_preconditioner: return KSP_DIVERGED_INDEFINITE_PC;
    case reason::not_a_number: return KSP_DIVERGED_NANORINF;
    default: return KSP_DIVERGED_BREAKDOWN;
    }
}

} // namespace

residual_watch::residual_watch(KSP ksp, const communicator& comm, solver_options& options)
    : ksp_(ksp) {
    if (ksp->numbermonitors == 0 && ksp->res_hist == nullptr) return;
    later_ = !comm.has_one_driver();
    options.history = later_;
    if (later_) return;
    options.callback_interval = 1;
    options.callback = [this](const progress& now) {
        if (!failure_) failure_ = tell(now.iteration, now.residual);
        return failure_ ? next_step::stop : next_step::go;
    };
}

PetscErrorCode residual_watch::tell(std::int64_t iteration, double residual) const {
    PetscFunctionBegin;
    ksp_->its = static_cast<PetscInt>(iteration);
    ksp_->rnorm = residual;
    PetscCall(KSPLogResidualHistory(ksp_, residual));
    PetscCall(KSPMonitor(ksp_, ksp_->its, residual));
    PetscFunctionReturn(0);
}

void residual_watch::finish(const solve_result& result) {
    check(failure_);
    if (!later_) return;
    for (std::size_t k = 0; k < result.history.size(); ++k)
        check(tell(static_cast<std::int64_t>(k), result.history[k]));
}

void remove_null_space(KSP ksp) {
    Mat a = nullptr;
    MatNullSpace null = nullptr;
    check(KSPGetOperators(ksp, &a, nullptr));
    check(MatGetNullSpace(a, &null));
    if (null != nullptr) check(MatNullSpaceRemove(null, ksp->vec_sol));
}

void take_outcome(KSP ksp, const solve_result& result) {
    ksp->its = static_cast<PetscInt>(result.iterations);
    ksp->rnorm = result.true_residual;
    ksp->reason = reason_of(ksp, result.reason);
}

std::string in_words(const solve_result& result, const std::string& method,
                     const std::string& preconditioner) {
    const solve_attempt* const best = result.best_attempt();
    std::string words = best != nullptr ? best->solver + ", preconditioner " + best->preconditioner
                                        : method + ", preconditioner " + preconditioner;
    words += ": " + std::string(to_string(result.reason));
    if (!result.diagnosis.empty()) words += "; " + result.diagnosis;
    return words;
}

} // namespace krylith::petsc
