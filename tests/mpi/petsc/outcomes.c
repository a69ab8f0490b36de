/* What the KSP says of a solve. */
#include "cases.h"
#include "support.h"

static PetscInt told; /* iterations that the monitor has heard of */

static PetscErrorCode listen_to(KSP ksp, PetscInt iteration, PetscReal residual, void* context) {
    (void)ksp, (void)context;
    CHECK(iteration == told && residual >= 0);
    ++told;
    return 0;
}

static PetscErrorCode fail(KSP ksp, PetscInt iteration, PetscReal residual, void* context) {
    (void)ksp, (void)residual, (void)context;
    if (iteration == 3) SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_USER, "the monitor has had enough");
    return 0;
}

/* Monitors, the history, an initial guess, and the norm at the end. */
void residuals(void) {
    Mat a = laplacian(20, 0, 0, 0, MATAIJ);
    Vec b = right_side(a), x, r;
    KSP ksp = make_ksp(a, a, "-krylith_method cg -krylith_M jacobi");
    PetscInt iterations, entries;
    PetscReal rhs_norm, norm, own;
    const PetscReal* history;
    WELL(VecDuplicate(b, &x));
    WELL(VecDuplicate(b, &r));
    WELL(VecNorm(b, NORM_2, &rhs_norm));
    WELL(KSPMonitorSet(ksp, listen_to, NULL, NULL));
    WELL(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
    WELL(KSPSolve(ksp, b, x));
    WELL(KSPGetIterationNumber(ksp, &iterations));
    WELL(KSPGetResidualHistory(ksp, &history, &entries));
    CHECK(iterations > 10 && told == iterations + 1 && entries == told);
    CHECK(PetscAbsReal(history[0] - rhs_norm) < 1e-10 * rhs_norm &&
          history[entries - 1] <= 1.1e-11 * rhs_norm);
    WELL(KSPGetResidualNorm(ksp, &norm));
    WELL(MatMult(a, x, r));
    WELL(VecAYPX(r, -1, b));
    WELL(VecNorm(r, NORM_2, &own));
    CHECK(norm > 0 && PetscAbsReal(norm - own) < 1e-3 * own + 1e-14 * rhs_norm);

    told = 0; /* it is the solution already */
    WELL(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    WELL(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    WELL(KSPSolve(ksp, b, x));
    WELL(KSPGetIterationNumber(ksp, &iterations));
    CHECK(iterations == 0);
    WELL(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
    WELL(KSPMonitorCancel(ksp));
    WELL(KSPSolve(ksp, b, x));
    WELL(KSPGetIterationNumber(ksp, &iterations));
    CHECK(iterations > 10);

    WELL(KSPMonitorSet(ksp, fail, NULL, NULL));
    FAILS(KSPSolve(ksp, b, x), "the monitor has had enough");
    WELL(KSPMonitorCancel(ksp));
    WELL(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    SOLVE_AND_CHECK(ksp, b);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&a));
    WELL(VecDestroy(&b));
    WELL(VecDestroy(&x));
    WELL(VecDestroy(&r));
}

void reasons(void) {
    Mat a = laplacian(20, 0, 0, 0, MATAIJ);
    Vec b = right_side(a), x;
    KSP ksp = make_ksp(a, a, "-krylith_method cg -ksp_max_it 3");
    PetscInt iterations;
    CHECK(reason_of(ksp, b) == KSP_DIVERGED_ITS);
    WELL(KSPGetIterationNumber(ksp, &iterations));
    CHECK(iterations == 3);
    WELL(VecDuplicate(b, &x));
    WELL(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
    FAILS(KSPSolve(ksp, b, x), "KSP_DIVERGED_ITS" + 4);
    WELL(KSPSetErrorIfNotConverged(ksp, PETSC_FALSE));
    WELL(KSPSetTolerances(ksp, 0, 1e-3, PETSC_DEFAULT, 1000));
    CHECK(reason_of(ksp, b) == KSP_CONVERGED_ATOL);
    WELL(MatScale(a, -1));
    CHECK(reason_of(ksp, b) == KSP_DIVERGED_INDEFINITE_MAT);
    WELL(VecSet(b, NAN));
    CHECK(reason_of(ksp, b) == KSP_DIVERGED_NANORINF);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&a));
    WELL(VecDestroy(&b));
    WELL(VecDestroy(&x));
}
