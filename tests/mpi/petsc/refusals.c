#include "cases.h"
#include "support.h"

/* What is refused in words, after which the KSP solves all the same. */
void refused_uses(void) {
    int rank, processes;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &processes);
    Mat a = laplacian(12, 0, 0, 0, MATAIJ), blocks = laplacian(12, 0, 0, 0, MATBAIJ), shifted;
    Vec b = right_side(a), x;
    KSP ksp = make_ksp(a, a, "-krylith_method cg -krylith_M jacobi");
    WELL(VecDuplicate(b, &x));
    WELL(KSPSetOperators(ksp, blocks, blocks));
    FAILS(KSPSolve(ksp, b, x), processes == 1 ? "type seqbaij: allowed" : "type mpibaij: allowed");
    WELL(KSPSetOperators(ksp, a, a));
    SOLVE_AND_CHECK(ksp, b);
    FAILS(KSPSolveTranspose(ksp, b, x), "KSPSetUseExplicitTranspose");
    WELL(KSPDestroy(&ksp));
    Mat skew = laplacian(12, 0, 0.4, 0, MATAIJ), transposed;
    ksp = make_ksp(skew, skew, "-krylith_method bicgstab -krylith_M jacobi");
    WELL(KSPSetUseExplicitTranspose(ksp, PETSC_TRUE));
    WELL(KSPSolveTranspose(ksp, b, x));
    WELL(MatTranspose(skew, MAT_INITIAL_MATRIX, &transposed));
    CHECK_SOLUTION(transposed, b, x);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&skew));
    WELL(MatDestroy(&transposed));
    ksp = make_ksp(a, a, "-krylith_method cg -krylith_devices 0,x");
    FAILS(KSPSolve(ksp, b, x), "krylith_devices is '0,x'");
    WELL(KSPDestroy(&ksp));
    Mat hollow = laplacian(12, -4, 0, 0, MATAIJ); /* M can't be made, also when it is asked again */
    ksp = make_ksp(hollow, hollow, "-krylith_method bicgstab -krylith_M jacobi");
    FAILS(KSPSolve(ksp, b, x), "diagonal");
    FAILS(KSPSolve(ksp, b, x), "diagonal");
    WELL(MatShift(hollow, 4));
    SOLVE_AND_CHECK(ksp, b);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&hollow));
    ksp = make_ksp(a, a, "-krylith_method cg -ksp_norm_type none");
    FAILS(KSPSolve(ksp, b, x), "does not support norm type NONE");
    WELL(KSPDestroy(&ksp));
    ksp = make_ksp(a, a, "-krylith_method cg");
    WELL(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    FAILS(KSPSolve(ksp, b, x), "another convergence test");
    WELL(KSPDestroy(&ksp));

    /* One process alone has other columns than rows. */
    if (processes > 1) {
        const PetscInt rows = 10, columns = rank == 0 ? 11 : rank == 1 ? 9 : 10;
        WELL(MatCreateAIJ(PETSC_COMM_WORLD, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, 1,
                          NULL, 1, NULL, &shifted));
        WELL(MatAssemblyBegin(shifted, MAT_FINAL_ASSEMBLY));
        WELL(MatAssemblyEnd(shifted, MAT_FINAL_ASSEMBLY));
        ksp = make_ksp(shifted, shifted, "-krylith_method cg");
        FAILS(KSPSetUp(ksp), "both must be the same");
        WELL(KSPDestroy(&ksp));
        WELL(MatDestroy(&shifted));
    }
    WELL(MatDestroy(&a));
    WELL(MatDestroy(&blocks));
    WELL(VecDestroy(&b));
    WELL(VecDestroy(&x));
}

/* Options that are refused in words. */
void refused_options(void) {
    Mat a = laplacian(12, 0, 0, 0, MATAIJ);
    KSP ksp;
    const char* const options[][2] = {
        {"-krylith_method cgg", "did you mean 'cg'"},
        {"-krylith_M amgg", "amg"},
        {"-krylith_backend tpu", "allowed are host"},
        {"-krylith_kind hallo", "halo"},
        {"-krylith_method lsqr", "'lsqr', which needs the transposed"},
        {"-krylith_presond amg", "unknown option -krylith_presond"},
        {"-inner_krylith_N amg", "unknown option -inner_krylith_N"},
        {"-pc_type icc", "-krylith_M names its preconditioner"}};
    PetscPushErrorHandler(keep_words, NULL);
    for (size_t k = 0; k < sizeof options / sizeof *options; ++k) {
        words[0] = '\0';
        ksp = make_ksp(a, a, options[k][0]);
        CHECK(refused != 0 && strstr(words, options[k][1]) != NULL);
        WELL(KSPDestroy(&ksp));
    }
    PetscPopErrorHandler();
    WELL(MatDestroy(&a));
}
