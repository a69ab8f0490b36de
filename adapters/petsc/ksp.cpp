// The KSP type itself: the functions that PETSc calls.
#include <krylith/adapters/petsc.h>

#include <cstring>
#include <string>
#include <utility>

#include <petsc/private/kspimpl.h>

#include <krylith/adapters/petsc/checked.hpp>
#include <krylith/adapters/petsc/ksp_options.hpp>
#include <krylith/adapters/petsc/ksp_solver.hpp>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "krylith solves real systems in double precision: PETSc must have been configured so"
#endif

namespace krylith::petsc {

namespace {

MPI_Comm comm_of(KSP ksp) {
    return PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
}

ksp_solver& solver_of(KSP ksp) {
    return *static_cast<ksp_solver*>(ksp->data);
}

void end(KSP ksp) {
    delete static_cast<ksp_solver*>(std::exchange(ksp->data, nullptr));
}

/// Replaces the solver by one that has nothing yet.
void begin_anew(KSP ksp, ksp_options options) {
    end(ksp); // its memory may be needed
    ksp->data = new ksp_solver(std::move(options));
}

/// A PC that was asked for by an option is no mistake to pass over.
void refuse_pc_option(KSP ksp) {
    PC pc = nullptr;
    char asked[64];
    PetscBool given = PETSC_FALSE;
    check(KSPGetPC(ksp, &pc));
    check(PetscOptionsGetString(reinterpret_cast<PetscObject>(ksp)->options,
                                reinterpret_cast<PetscObject>(pc)->prefix, "-pc_type", asked,
                                sizeof asked, &given));
    if (given && std::strcmp(asked, PCNONE) != 0)
        throw usage_error("-pc_type is '" + std::string(asked) +
                          "', which krylith doesn't use: -krylith_M names its preconditioner, such "
                          "as amg, jacobi or ilu0; allowed is -pc_type none");
}

/// PETSc gives each KSP a PC, ILU where the user chose none, and would set it up.
void switch_pc_off(KSP ksp) {
    PC pc = nullptr;
    check(KSPGetPC(ksp, &pc));
    check(PCSetType(pc, PCNONE));
}

void check_settings(KSP ksp) {
    const auto* const test = static_cast<const KSPConvergedDefaultCtx*>(ksp->cnvP);
    if (ksp->converged != KSPConvergedDefault || test == nullptr || test->initialrtol ||
        test->mininitialrtol)
        throw usage_error("krylith ends by the KSP's tolerances and the norm of b: another "
                          "convergence test can't be used");
    if (ksp->transpose_solve)
        throw usage_error("KSPSolveTranspose() needs the transposed matrix: "
                          "KSPSetUseExplicitTranspose() makes it");
}

PetscErrorCode set_up(KSP ksp) {
    return checked(comm_of(ksp), "KSPSetUp_krylith", [&] {
        check_settings(ksp);
        switch_pc_off(ksp);
        solver_of(ksp).follow(ksp);
    });
}

PetscErrorCode solve(KSP ksp) {
    return checked(comm_of(ksp), "KSPSolve_krylith", [&] {
        check_settings(ksp);
        solver_of(ksp).solve(ksp);
    });
}

PetscErrorCode set_from_options(KSP ksp, PetscOptionItems* PetscOptionsObject) {
    ksp_options options = solver_of(ksp).options();
    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, "krylith options");
    PetscCall(read_options(PetscOptionsObject, options));
    PetscOptionsHeadEnd();
    PetscCall(checked(comm_of(ksp), "KSPSetFromOptions_krylith", [&] {
        refuse_pc_option(ksp);
        refuse_unknown_options(ksp);
        if (options == solver_of(ksp).options()) return;
        options.check();
        begin_anew(ksp, std::move(options));
        ksp->setupstage = KSP_SETUP_NEW;
    }));
    PetscFunctionReturn(0);
}

PetscErrorCode view(KSP ksp, PetscViewer viewer) {
    return checked(comm_of(ksp), "KSPView_krylith", [&] {
        PetscBool text = PETSC_FALSE;
        check(
            PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &text));
        if (text) solver_of(ksp).view(viewer);
    });
}

PetscErrorCode reset(KSP ksp) {
    return checked(comm_of(ksp), "KSPReset_krylith",
                   [&] { begin_anew(ksp, ksp_options(solver_of(ksp).options())); });
}

PetscErrorCode destroy(KSP ksp) {
    return checked(comm_of(ksp), "KSPDestroy_krylith", [&] { end(ksp); });
}

PetscErrorCode create(KSP ksp) {
    return checked(comm_of(ksp), "KSPCreate_krylith", [&] {
        check(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
        check(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 2));
        check(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_SYMMETRIC, 2));
        ksp->data = new ksp_solver({});
        ksp->setupnewmatrix = PETSC_TRUE;
        ksp->ops->setup = set_up;
        ksp->ops->solve = solve;
        ksp->ops->setfromoptions = set_from_options;
        ksp->ops->view = view;
        ksp->ops->reset = reset;
        ksp->ops->destroy = destroy;
        ksp->ops->buildsolution = KSPBuildSolutionDefault;
        ksp->ops->buildresidual = KSPBuildResidualDefault;
    });
}

} // namespace

} // namespace krylith::petsc

PetscErrorCode KSPKrylithRegister(void) {
    return KSPRegister(KSPKRYLITH, krylith::petsc::create);
}

// The function that PETSc looks for in a library that -dll_append names, by the library's name.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_krylith_petsc(void);
PetscErrorCode PetscDLLibraryRegister_krylith_petsc(void) {
    return KSPKrylithRegister();
}
