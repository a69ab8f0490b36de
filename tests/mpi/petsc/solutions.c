/* Solutions beside PETSc's. */
#include "cases.h"
#include "support.h"

/* Options by name, in prefixes of their own; values that change, and then the pattern. */
void solutions(void) {
    const char* const options[] = {
        "-krylith_method cg -krylith_M jacobi",
        "-krylith_method cg -krylith_M amg",
        "-krylith_M none",
        "-krylith_devices 2",
        "-krylith_method gmres -krylith_M ilu0 -krylith_restart 50 -ksp_pc_side left",
        "-inner_krylith_method bicgstab -inner_krylith_M jacobi -inner_ksp_rtol 1e-10"};
    for (size_t k = 0; k < sizeof options / sizeof *options; ++k) {
        Mat a = laplacian(20, 0, 0, 0, MATAIJ), other = laplacian(20, 1, 0, 1, MATAIJ);
        Vec b = right_side(a);
        KSP ksp = make_ksp(a, a, options[k]);
        SOLVE_AND_CHECK(ksp, b);
        WELL(MatScale(a, 3));
        WELL(MatShift(a, 2));
        SOLVE_AND_CHECK(ksp, b); /* it finds out by itself */
        WELL(MatShift(a, 1));
        WELL(KSPSetOperators(ksp, a, a));
        WELL(KSPSetUp(ksp));
        SOLVE_AND_CHECK(ksp, b);
        WELL(KSPSetOperators(ksp, other, other));
        SOLVE_AND_CHECK(ksp, b);
        WELL(KSPReset(ksp));
        WELL(KSPSetOperators(ksp, a, a));
        SOLVE_AND_CHECK(ksp, b);
        WELL(KSPDestroy(&ksp));
        WELL(MatDestroy(&a));
        WELL(MatDestroy(&other));
        WELL(VecDestroy(&b));
    }
}

/* M of another matrix, with a near-null space; and two KSPs that live at once. */
void second_matrix(void) {
    Mat a = laplacian(16, 0.1, 0.3, 0, MATAIJ), p = laplacian(16, 0, 0, 0, MATAIJ);
    Vec b = right_side(a);
    MatNullSpace constant;
    KSP first = make_ksp(a, p, "-krylith_method gmres"),
        second = make_ksp(p, p, "-krylith_method cg");
    WELL(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
    SOLVE_AND_CHECK(first, b);
    WELL(MatSetNearNullSpace(p, constant));
    SOLVE_AND_CHECK(second, b);
    WELL(MatScale(p, 2));
    SOLVE_AND_CHECK(first, b);
    WELL(MatScale(a, 2));
    SOLVE_AND_CHECK(first, b);
    SOLVE_AND_CHECK(second, b);
    WELL(MatNullSpaceDestroy(&constant));
    WELL(KSPDestroy(&first));
    WELL(KSPDestroy(&second));
    WELL(MatDestroy(&a));
    WELL(MatDestroy(&p));
    WELL(VecDestroy(&b));
}

/* A matrix with fewer rows than processes, and one whose rows are all in the last. */
void empty_processes(void) {
    int rank, processes;
    KSP ksp;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &processes);
    Mat a = laplacian(1, 1, 0, 0, MATAIJ), last;
    Vec b = right_side(a), c;
    ksp = make_ksp(a, a, "-krylith_method cg -krylith_M jacobi");
    SOLVE_AND_CHECK(ksp, b);
    WELL(MatDestroy(&a));
    WELL(VecDestroy(&b));
    WELL(KSPDestroy(&ksp));
    const PetscInt own = rank == processes - 1 ? 30 : 0;
    WELL(MatCreateAIJ(PETSC_COMM_WORLD, own, own, 30, 30, 1, NULL, 0, NULL, &last));
    for (PetscInt i = 0; i < own; ++i)
        WELL(MatSetValue(last, i, i, 1 + (PetscReal)i, INSERT_VALUES));
    WELL(MatAssemblyBegin(last, MAT_FINAL_ASSEMBLY));
    WELL(MatAssemblyEnd(last, MAT_FINAL_ASSEMBLY));
    c = right_side(last);
    ksp = make_ksp(last, last, "-krylith_method bicgstab -krylith_M jacobi");
    SOLVE_AND_CHECK(ksp, c);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&last));
    WELL(VecDestroy(&c));
}

/* A matrix that maps constants to 0, with a b that is no sum of its columns. */
void null_space(void) {
    Mat a = laplacian(20, 0, 0, 0, MATAIJ);
    Vec sums, b = right_side(a), x;
    MatNullSpace constant;
    PetscScalar sum;
    PetscReal norm;
    KSPConvergedReason reason;
    WELL(MatCreateVecs(a, &x, &sums));
    WELL(MatGetRowSum(a, sums));
    WELL(VecScale(sums, -1));
    WELL(MatDiagonalSet(a, sums, ADD_VALUES));
    WELL(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
    WELL(MatSetNullSpace(a, constant));
    WELL(MatSetTransposeNullSpace(a, constant));
    KSP ksp = make_ksp(a, a, "-krylith_method cg -krylith_M jacobi -ksp_rtol 1e-9");
    WELL(VecSet(x, 1));
    WELL(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
    WELL(KSPSolve(ksp, b, x));
    WELL(KSPGetConvergedReason(ksp, &reason));
    WELL(VecSum(x, &sum));
    WELL(VecNorm(x, NORM_2, &norm));
    CHECK(reason == KSP_CONVERGED_RTOL && norm > 1 && PetscAbsScalar(sum) < 1e-9 * norm);
    WELL(MatNullSpaceDestroy(&constant));
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&a));
    WELL(VecDestroy(&sums));
    WELL(VecDestroy(&b));
    WELL(VecDestroy(&x));
}
