#include "support.h"

char words[4096];
PetscErrorCode refused;

PetscErrorCode keep_words(MPI_Comm comm, int line, const char* function, const char* file,
                          PetscErrorCode code, PetscErrorType kind, const char* message,
                          void* context) {
    (void)comm, (void)line, (void)function, (void)file, (void)kind, (void)context;
    if (words[0] == '\0') strncpy(words, message ? message : "", sizeof words - 1);
    return code;
}

void check(int right, const char* file, int line) {
    int rank = 0;
    if (right) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: wrong in process %d; last words: %s\n", file, line, rank, words);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
Mat laplacian(PetscInt n, PetscReal shift, PetscReal wind, int thin, MatType type) {
    Mat a;
    PetscInt first, end;
    WELL(MatCreate(PETSC_COMM_WORLD, &a));
    WELL(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
    WELL(MatSetType(a, type));
    WELL(MatSetUp(a));
    WELL(MatGetOwnershipRange(a, &first, &end));
    for (PetscInt row = first; row < end; ++row) {
        const PetscInt y = row / n, x = row % n;
        WELL(MatSetValue(a, row, row, 4 + shift, INSERT_VALUES));
        if (x > 0) WELL(MatSetValue(a, row, row - 1, -1 - wind, INSERT_VALUES));
        if (x < n - 1) WELL(MatSetValue(a, row, row + 1, -1 + wind, INSERT_VALUES));
        if (y > 0 && !thin) WELL(MatSetValue(a, row, row - n, -1, INSERT_VALUES));
        if (y < n - 1 && !thin) WELL(MatSetValue(a, row, row + n, -1, INSERT_VALUES));
    }
    WELL(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    WELL(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    return a;
}

Vec right_side(Mat a) {
    Vec b;
    PetscInt first, end;
    WELL(MatCreateVecs(a, NULL, &b));
    WELL(VecGetOwnershipRange(b, &first, &end));
    for (PetscInt i = first; i < end; ++i)
        WELL(VecSetValue(b, i, 1 + PetscSinReal((PetscReal)i), INSERT_VALUES));
    WELL(VecAssemblyBegin(b));
    WELL(VecAssemblyEnd(b));
    return b;
}

KSP make_ksp(Mat a, Mat p, const char* options) {
    KSP ksp;
    PetscOptions own;
    WELL(PetscOptionsCreate(&own));
    WELL(PetscOptionsInsertString(own, options));
    WELL(PetscOptionsPush(own));
    WELL(KSPCreate(PETSC_COMM_WORLD, &ksp));
    WELL(KSPSetOptionsPrefix(ksp, strstr(options, "-inner_") ? "inner_" : NULL));
    WELL(KSPSetOperators(ksp, a, p));
    WELL(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
    WELL(KSPSetType(ksp, KSPKRYLITH));
    refused = KSPSetFromOptions(ksp);
    WELL(PetscOptionsPop());
    WELL(PetscOptionsDestroy(&own));
    return ksp;
}

void check_solution(Mat a, Vec b, Vec x, const char* file, int line) {
    KSP ksp;
    PC pc;
    Vec expected;
    PetscReal error, norm;
    KSPConvergedReason reason;
    WELL(VecDuplicate(b, &expected));
    WELL(KSPCreate(PETSC_COMM_WORLD, &ksp));
    WELL(KSPSetOperators(ksp, a, a));
    WELL(KSPSetType(ksp, KSPGMRES));
    WELL(KSPGMRESSetRestart(ksp, 400));
    WELL(KSPGetPC(ksp, &pc));
    WELL(PCSetType(pc, PCJACOBI));
    WELL(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 400));
    WELL(KSPSolve(ksp, b, expected));
    WELL(KSPGetConvergedReason(ksp, &reason));
    check(reason > 0, file, line);
    WELL(VecNorm(expected, NORM_2, &norm));
    WELL(VecAXPY(expected, -1, x));
    WELL(VecNorm(expected, NORM_2, &error));
    check(error <= 1e-7 * norm, file, line);
    WELL(VecDestroy(&expected));
    WELL(KSPDestroy(&ksp));
}

void solve_and_check(KSP ksp, Vec b, const char* file, int line) {
    Mat a;
    Vec x;
    KSPConvergedReason reason;
    WELL(VecDuplicate(b, &x));
    WELL(VecSet(x, NAN)); /* what is in x must not be read without an initial guess */
    check(KSPSolve(ksp, b, x) == 0, file, line);
    WELL(KSPGetConvergedReason(ksp, &reason));
    check(reason == KSP_CONVERGED_RTOL || reason == KSP_CONVERGED_HAPPY_BREAKDOWN, file, line);
    WELL(KSPGetOperators(ksp, &a, NULL));
    check_solution(a, b, x, file, line);
    WELL(VecDestroy(&x));
}

KSPConvergedReason reason_of(KSP ksp, Vec b) {
    Vec x;
    KSPConvergedReason reason;
    WELL(VecDuplicate(b, &x));
    WELL(KSPSolve(ksp, b, x));
    WELL(KSPGetConvergedReason(ksp, &reason));
    WELL(VecDestroy(&x));
    return reason;
}
