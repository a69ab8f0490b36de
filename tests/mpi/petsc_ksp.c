/* The KSP of type krylith beside PETSc's own. Each process runs all cases; one that fails says where, and
 * ends them all. */
#include <krylith/adapters/petsc.h>

#include <dirent.h>
#include <string.h>

static char words[4096];       /* of the first error since it was emptied */
static PetscErrorCode refused; /* what the last KSPSetFromOptions() of make_ksp() returned */

static PetscErrorCode keep_words(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                 PetscErrorType kind, const char *message, void *context) {
    (void)comm, (void)line, (void)function, (void)file, (void)kind, (void)context;
    if (words[0] == '\0') strncpy(words, message ? message : "", sizeof words - 1);
    return code;
}

static void check(int right, int line) {
    int rank = 0;
    if (right) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "tests/mpi/petsc_ksp.c:%d: wrong in process %d; last words: %s\n", line, rank, words);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(condition) check((condition) != 0, __LINE__)
#define WELL(call) check((call) == 0, __LINE__)

/* What must fail, in these words among others. */
#define FAILS(call, text)                                                                                           \
    do {                                                                                                            \
        words[0] = '\0';                                                                                            \
        PetscPushErrorHandler(keep_words, NULL);                                                                    \
        const int failed_ = (call) != 0;                                                                            \
        PetscPopErrorHandler();                                                                                     \
        check(failed_ && strstr(words, text) != NULL, __LINE__);                                                    \
    } while (0)

/* The 5-point Laplacian on n^2 points plus `shift` times the identity; with a part that is not symmetric if
 * `wind` is not 0, and without the couplings in y if it is `thin`. */
static Mat laplacian(PetscInt n, PetscReal shift, PetscReal wind, int thin, MatType type) {
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

static Vec right_side(Mat a) {
    Vec b;
    PetscInt first, end;
    WELL(MatCreateVecs(a, NULL, &b));
    WELL(VecGetOwnershipRange(b, &first, &end));
    for (PetscInt i = first; i < end; ++i) WELL(VecSetValue(b, i, 1 + PetscSinReal((PetscReal)i), INSERT_VALUES));
    WELL(VecAssemblyBegin(b));
    WELL(VecAssemblyEnd(b));
    return b;
}

/* A KSP of krylith's with options of its own, which solves to 1e-11. */
static KSP make_ksp(Mat a, Mat p, const char *options) {
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

/* Checks x beside the solution that PETSc's gmres finds. */
static void check_solution(Mat a, Vec b, Vec x, int line) {
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
    check(reason > 0, line);
    WELL(VecNorm(expected, NORM_2, &norm));
    WELL(VecAXPY(expected, -1, x));
    WELL(VecNorm(expected, NORM_2, &error));
    check(error <= 1e-7 * norm, line);
    WELL(VecDestroy(&expected));
    WELL(KSPDestroy(&ksp));
}

static void solve_and_check(KSP ksp, Vec b, int line) {
    Mat a;
    Vec x;
    KSPConvergedReason reason;
    WELL(VecDuplicate(b, &x));
    WELL(VecSet(x, NAN)); /* what is in x must not be read without an initial guess */
    check(KSPSolve(ksp, b, x) == 0, line);
    WELL(KSPGetConvergedReason(ksp, &reason));
    check(reason == KSP_CONVERGED_RTOL || reason == KSP_CONVERGED_HAPPY_BREAKDOWN, line);
    WELL(KSPGetOperators(ksp, &a, NULL));
    check_solution(a, b, x, line);
    WELL(VecDestroy(&x));
}

/* Options by name, in prefixes of their own; values that change, and then the pattern. */
static void solutions(void) {
    const char *const options[] = {
        "-krylith_method cg -krylith_M jacobi", "-krylith_method cg -krylith_M amg", "-krylith_M none",
        "-krylith_devices 2",
        "-krylith_method gmres -krylith_M ilu0 -krylith_restart 50 -ksp_pc_side left",
        "-inner_krylith_method bicgstab -inner_krylith_M jacobi -inner_ksp_rtol 1e-10"};
    for (size_t k = 0; k < sizeof options / sizeof *options; ++k) {
        Mat a = laplacian(20, 0, 0, 0, MATAIJ), other = laplacian(20, 1, 0, 1, MATAIJ);
        Vec b = right_side(a);
        KSP ksp = make_ksp(a, a, options[k]);
        solve_and_check(ksp, b, __LINE__);
        WELL(MatScale(a, 3));
        WELL(MatShift(a, 2));
        solve_and_check(ksp, b, __LINE__); /* it finds out by itself */
        WELL(MatShift(a, 1));
        WELL(KSPSetOperators(ksp, a, a));
        WELL(KSPSetUp(ksp));
        solve_and_check(ksp, b, __LINE__);
        WELL(KSPSetOperators(ksp, other, other));
        solve_and_check(ksp, b, __LINE__);
        WELL(KSPReset(ksp));
        WELL(KSPSetOperators(ksp, a, a));
        solve_and_check(ksp, b, __LINE__);
        WELL(KSPDestroy(&ksp));
        WELL(MatDestroy(&a));
        WELL(MatDestroy(&other));
        WELL(VecDestroy(&b));
    }
}

/* M of another matrix, with a near-null space; and two KSPs that live at once. */
static void second_matrix(void) {
    Mat a = laplacian(16, 0.1, 0.3, 0, MATAIJ), p = laplacian(16, 0, 0, 0, MATAIJ);
    Vec b = right_side(a);
    MatNullSpace constant;
    KSP first = make_ksp(a, p, "-krylith_method gmres"), second = make_ksp(p, p, "-krylith_method cg");
    WELL(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
    solve_and_check(first, b, __LINE__);
    WELL(MatSetNearNullSpace(p, constant));
    solve_and_check(second, b, __LINE__);
    WELL(MatScale(p, 2));
    solve_and_check(first, b, __LINE__);
    WELL(MatScale(a, 2));
    solve_and_check(first, b, __LINE__);
    solve_and_check(second, b, __LINE__);
    WELL(MatNullSpaceDestroy(&constant));
    WELL(KSPDestroy(&first));
    WELL(KSPDestroy(&second));
    WELL(MatDestroy(&a));
    WELL(MatDestroy(&p));
    WELL(VecDestroy(&b));
}

/* A matrix with fewer rows than processes, and one whose rows are all in the last. */
static void empty_processes(void) {
    int rank, processes;
    KSP ksp;
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &processes);
    Mat a = laplacian(1, 1, 0, 0, MATAIJ), last;
    Vec b = right_side(a), c;
    ksp = make_ksp(a, a, "-krylith_method cg -krylith_M jacobi");
    solve_and_check(ksp, b, __LINE__);
    WELL(MatDestroy(&a));
    WELL(VecDestroy(&b));
    WELL(KSPDestroy(&ksp));
    const PetscInt own = rank == processes - 1 ? 30 : 0;
    WELL(MatCreateAIJ(PETSC_COMM_WORLD, own, own, 30, 30, 1, NULL, 0, NULL, &last));
    for (PetscInt i = 0; i < own; ++i) WELL(MatSetValue(last, i, i, 1 + (PetscReal)i, INSERT_VALUES));
    WELL(MatAssemblyBegin(last, MAT_FINAL_ASSEMBLY));
    WELL(MatAssemblyEnd(last, MAT_FINAL_ASSEMBLY));
    c = right_side(last);
    ksp = make_ksp(last, last, "-krylith_method bicgstab -krylith_M jacobi");
    solve_and_check(ksp, c, __LINE__);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&last));
    WELL(VecDestroy(&c));
}

/* A matrix that maps constants to 0, with a b that is no sum of its columns. */
static void null_space(void) {
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

static PetscInt told; /* iterations that the monitor has heard of */

static PetscErrorCode listen_to(KSP ksp, PetscInt iteration, PetscReal residual, void *context) {
    (void)ksp, (void)context;
    CHECK(iteration == told && residual >= 0);
    ++told;
    return 0;
}

static PetscErrorCode fail(KSP ksp, PetscInt iteration, PetscReal residual, void *context) {
    (void)ksp, (void)residual, (void)context;
    if (iteration == 3) SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_USER, "the monitor has had enough");
    return 0;
}

/* Monitors, the history, an initial guess, and the norm at the end. */
static void residuals(void) {
    Mat a = laplacian(20, 0, 0, 0, MATAIJ);
    Vec b = right_side(a), x, r;
    KSP ksp = make_ksp(a, a, "-krylith_method cg -krylith_M jacobi");
    PetscInt iterations, entries;
    PetscReal rhs_norm, norm, own;
    const PetscReal *history;
    WELL(VecDuplicate(b, &x));
    WELL(VecDuplicate(b, &r));
    WELL(VecNorm(b, NORM_2, &rhs_norm));
    WELL(KSPMonitorSet(ksp, listen_to, NULL, NULL));
    WELL(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
    WELL(KSPSolve(ksp, b, x));
    WELL(KSPGetIterationNumber(ksp, &iterations));
    WELL(KSPGetResidualHistory(ksp, &history, &entries));
    CHECK(iterations > 10 && told == iterations + 1 && entries == told);
    CHECK(PetscAbsReal(history[0] - rhs_norm) < 1e-10 * rhs_norm && history[entries - 1] <= 1.1e-11 * rhs_norm);
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
    solve_and_check(ksp, b, __LINE__);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&a));
    WELL(VecDestroy(&b));
    WELL(VecDestroy(&x));
    WELL(VecDestroy(&r));
}

static KSPConvergedReason reason_of(KSP ksp, Vec b) {
    Vec x;
    KSPConvergedReason reason;
    WELL(VecDuplicate(b, &x));
    WELL(KSPSolve(ksp, b, x));
    WELL(KSPGetConvergedReason(ksp, &reason));
    WELL(VecDestroy(&x));
    return reason;
}

static void reasons(void) {
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

/* What is refused in words, after which the KSP solves all the same. */
static void refusals(void) {
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
    solve_and_check(ksp, b, __LINE__);
    FAILS(KSPSolveTranspose(ksp, b, x), "KSPSetUseExplicitTranspose");
    WELL(KSPDestroy(&ksp));
    Mat skew = laplacian(12, 0, 0.4, 0, MATAIJ), transposed;
    ksp = make_ksp(skew, skew, "-krylith_method bicgstab -krylith_M jacobi");
    WELL(KSPSetUseExplicitTranspose(ksp, PETSC_TRUE));
    WELL(KSPSolveTranspose(ksp, b, x));
    WELL(MatTranspose(skew, MAT_INITIAL_MATRIX, &transposed));
    check_solution(transposed, b, x, __LINE__);
    WELL(KSPDestroy(&ksp));
    WELL(MatDestroy(&skew));
    WELL(MatDestroy(&transposed));
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
        WELL(MatCreateAIJ(PETSC_COMM_WORLD, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 1, NULL,
                          &shifted));
        WELL(MatAssemblyBegin(shifted, MAT_FINAL_ASSEMBLY));
        WELL(MatAssemblyEnd(shifted, MAT_FINAL_ASSEMBLY));
        ksp = make_ksp(shifted, shifted, "-krylith_method cg");
        FAILS(KSPSetUp(ksp), "both must be the same");
        WELL(KSPDestroy(&ksp));
        WELL(MatDestroy(&shifted));
    }

    const char *const options[][2] = {
        {"-krylith_method cgg", "did you mean 'cg'"},   {"-krylith_M amgg", "amg"},
        {"-krylith_backend tpu", "allowed are host"}, {"-krylith_kind hallo", "halo"},
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
    WELL(MatDestroy(&blocks));
    WELL(VecDestroy(&b));
    WELL(VecDestroy(&x));
}

static int entries_of(const char *folder) {
    int count = 0;
    DIR *const open = opendir(folder);
    CHECK(open != NULL);
    while (readdir(open) != NULL) ++count;
    closedir(open);
    return count;
}

/* KSPs that are gone leave no files and no memory behind; nor threads, but for those of OpenMP. */
static void nothing_left(void) {
    Mat a = laplacian(60, 0, 0, 0, MATAIJ);
    Vec b = right_side(a);
    PetscLogDouble before = 0, after = 0;
    int files = 0, threads = 0;
    for (int k = 0; k < 60; ++k) {
        KSP ksp = make_ksp(a, a, "-krylith_method cg -krylith_M amg");
        CHECK(reason_of(ksp, b) == KSP_CONVERGED_RTOL);
        WELL(KSPDestroy(&ksp));
        if (k != 20) continue;
        files = entries_of("/proc/self/fd");
        threads = entries_of("/proc/self/task");
        WELL(PetscMemoryGetCurrentUsage(&before));
    }
    CHECK(entries_of("/proc/self/fd") <= files && entries_of("/proc/self/task") <= threads);
    WELL(PetscMemoryGetCurrentUsage(&after));
    CHECK(after - before < 4e6); /* one KSP has more than 1 MB */
    WELL(MatDestroy(&a));
    WELL(VecDestroy(&b));
}

int main(int argc, char **argv) {
    WELL(PetscInitialize(&argc, &argv, NULL, NULL));
    WELL(KSPKrylithRegister());
    reasons(); /* before the first error, after which PETSc takes a solve for one within another */
    solutions();
    second_matrix();
    empty_processes();
    null_space();
    residuals();
    refusals();
    nothing_left();
    WELL(PetscFinalize());
    return 0;
}
