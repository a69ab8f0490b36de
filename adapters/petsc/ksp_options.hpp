// The options of a KSP of type krylith, by the names that krylith.petsc.KSP has in Python.
#pragma once

#include <string>

#include <petsc/private/kspimpl.h>

#include <krylith/solvers/options.hpp>
#include <krylith/spmv/operator_options.hpp>

namespace krylith::petsc {

struct ksp_options {
    std::string method = "auto";
    std::string m;       ///< empty: none is named
    std::string devices; ///< a number of them, or numbers of GPUs, "0,2"; empty: one
    std::string backend; ///< "host", "cuda"; empty: GPUs if there are any
    int threads = 0;     ///< of the host devices; 0: the cores, dealt out to a machine's processes
    std::string kind = "auto";
    std::string format = "auto";
    std::string transport = "auto";
    int restart = solver_options().restart;
    int polynomial_degree = solver_options().polynomial_degree;
    int shadow_vectors = solver_options().shadow_vectors;
    int stagnation_window = static_cast<int>(solver_options().stagnation_window);
    double stagnation_gain = solver_options().stagnation_gain;
    double max_seconds = solver_options().max_seconds;
    double timeout_seconds = solver_options().timeout_seconds;

    friend bool operator==(const ksp_options&, const ksp_options&) = default;

    /// Throws usage_error for a method, an M, a kind, a format or a transport that there isn't.
    void check() const;
    [[nodiscard]] operator_options of_operator(int block_size) const;
    /// Those of the options, and the KSP's tolerances, side and initial guess.
    [[nodiscard]] solver_options of_solve(KSP ksp) const;
};

/// Reads -krylith_..., with the KSP's prefix, between PetscObjectOptionsBegin() and
/// PetscOptionsEnd().
PetscErrorCode read_options(PetscOptionItems* database, ksp_options& options);
/// Throws usage_error for an option of the KSP's that begins with krylith_ and has another name:
/// PETSc passes over what nobody reads.
void refuse_unknown_options(KSP ksp);

} // namespace krylith::petsc
