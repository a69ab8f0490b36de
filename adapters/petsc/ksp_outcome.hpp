// What a KSP is told of a solve.
#pragma once

#include <string>

#include <petsc/private/kspimpl.h>

#include <krylith/comm/communicator.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>

namespace krylith::petsc {

/// Tells the KSP's monitors and its history the residual of each iteration, if there are any: of
/// one process while it solves, of several afterwards, since monitors may communicate.
class residual_watch {
public:
    /// Has the solve with these options tell it.
    residual_watch(KSP ksp, const communicator& comm, solver_options& options);
    residual_watch(const residual_watch&) = delete;
    residual_watch& operator=(const residual_watch&) = delete;

    /// Tells what has not been told. Throws what a monitor has failed with.
    void finish(const solve_result& result);

private:
    [[nodiscard]] PetscErrorCode tell(std::int64_t iteration, double residual) const;

    KSP ksp_;
    bool later_ = false;
    PetscErrorCode failure_ = static_cast<PetscErrorCode>(0);
};

/// Takes from x what the KSP's matrix maps to 0, where it knows of that.
void remove_null_space(KSP ksp);

/// Sets reason, iterations and residual.
void take_outcome(KSP ksp, const solve_result& result);

/// The outcome of a solve in one line; with the diagnosis, where it did not converge.
[[nodiscard]] std::string in_words(const solve_result& result, const std::string& method,
                                   const std::string& preconditioner);

} // namespace krylith::petsc
