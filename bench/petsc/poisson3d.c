/* Times a KSP: Poisson's equation on a cube of n^3 points, whose rows are dealt out in slabs.
 *
 *     mpirun -n 2 petsc_poisson3d [-n 64] [-repeats 5] [-updates 1] -ksp_type ...
 *
 * Each repetition makes a KSP anew, which solves after its set-up, and again after new values of
 * the same pattern, twice the old ones, and the set-up for these; of several such updates the last
 * one counts. What is printed are the medians, in seconds of the slowest process. It knows nothing
 * of krylith: with -dll_append the KSP may be krylith's.
 */
#include <petscksp.h>
#include <stdlib.h>

enum { SET_UP, SOLVE, NEW_VALUES, SOLVE_AGAIN, PHASES };

static PetscErrorCode assemble(PetscInt n, Mat* result, Vec* x, Vec* b) {
    PetscInt first, end;
    Mat a;
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
    PetscCall(MatSetSizes(a, PETSC_DECIDE, PETSC_DECIDE, n * n * n, n * n * n));
    PetscCall(MatSetFromOptions(a));
    PetscCall(MatSeqAIJSetPreallocation(a, 7, NULL));
    PetscCall(MatMPIAIJSetPreallocation(a, 7, NULL, 7, NULL));
    PetscCall(MatSetUp(a));
    PetscCall(MatGetOwnershipRange(a, &first, &end));
    for (PetscInt row = first; row < end; ++row) {
        const PetscInt z = row / (n * n), y = row / n % n, at = row % n;
        PetscInt columns[7], count = 0;
        PetscScalar values[7];
        if (z > 0) columns[count++] = row - n * n;
        if (y > 0) columns[count++] = row - n;
        if (at > 0) columns[count++] = row - 1;
        columns[count++] = row;
        if (at < n - 1) columns[count++] = row + 1;
        if (y < n - 1) columns[count++] = row + n;
        if (z < n - 1) columns[count++] = row + n * n;
        for (PetscInt k = 0; k < count; ++k) values[k] = columns[k] == row ? 6 : -1;
        PetscCall(MatSetValues(a, 1, &row, count, columns, values, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(a, x, b));
    for (PetscInt row = first; row < end; ++row) /* the same bits on any number of processes */
        PetscCall(
            VecSetValue(*b, row, 1 + 0.5 * PetscSinReal(0.01 * (PetscReal)row), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(*b));
    PetscCall(VecAssemblyEnd(*b));
    *result = a;
    PetscFunctionReturn(0);
}

static PetscErrorCode relative_residual(Mat a, Vec b, Vec x, PetscReal* result) {
    Vec r;
    PetscReal norm;
    PetscFunctionBeginUser;
    PetscCall(VecDuplicate(b, &r));
    PetscCall(MatMult(a, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, result));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCall(VecDestroy(&r));
    *result /= norm;
    PetscFunctionReturn(0);
}

/* Begins, or ends, a time that all processes have alike. */
static double now(void) {
    MPI_Barrier(PETSC_COMM_WORLD);
    return MPI_Wtime();
}

static int ascending(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return (left > right) - (left < right);
}

/* What came of the last repetition. */
struct outcome {
    PetscInt iterations;
    KSPConvergedReason reason;
    PetscReal residual, again; /* of b; the second with new values */
};

static PetscErrorCode repeat(Mat a, Vec b, Vec x, PetscInt updates, double seconds[PHASES],
                             struct outcome* found) {
    KSP ksp;
    double start, set_up;
    PetscFunctionBeginUser;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, a, a));
    PetscCall(KSPSetFromOptions(ksp));
    start = now();
    PetscCall(KSPSetUp(ksp));
    set_up = now();
    PetscCall(KSPSolve(ksp, b, x));
    seconds[SET_UP] = set_up - start;
    seconds[SOLVE] = now() - set_up;
    PetscCall(KSPGetIterationNumber(ksp, &found->iterations));
    PetscCall(KSPGetConvergedReason(ksp, &found->reason));
    PetscCall(relative_residual(a, b, x, &found->residual));

    for (PetscInt update = 0; update < updates; ++update) {
        PetscCall(MatScale(a, 2));
        PetscCall(KSPSetOperators(ksp, a, a));
        start = now();
        PetscCall(KSPSetUp(ksp));
        set_up = now();
        PetscCall(KSPSolve(ksp, b, x));
        seconds[NEW_VALUES] = set_up - start;
        seconds[SOLVE_AGAIN] = now() - set_up;
    }
    PetscCall(relative_residual(a, b, x, &found->again));
    PetscCall(MatScale(a, PetscPowRealInt(0.5, (int)updates)));
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
    PetscInt n = 64, repeats = 5, updates = 1;
    double* seconds[PHASES];
    struct outcome found = {0};
    Mat a;
    Vec x, b;
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &repeats, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-updates", &updates, NULL));
    for (int phase = 0; phase < PHASES; ++phase) PetscCall(PetscMalloc1(repeats, &seconds[phase]));
    PetscCall(assemble(n, &a, &x, &b));
    for (PetscInt k = 0; k < repeats; ++k) {
        double these[PHASES] = {0};
        PetscCall(repeat(a, b, x, updates, these, &found));
        for (int phase = 0; phase < PHASES; ++phase) seconds[phase][k] = these[phase];
    }
    for (int phase = 0; phase < PHASES; ++phase)
        qsort(seconds[phase], (size_t)repeats, sizeof(double), ascending);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "set-up %.3f s, solve %.3f s, %" PetscInt_FMT " iterations, %s\n",
                          seconds[SET_UP][repeats / 2], seconds[SOLVE][repeats / 2],
                          found.iterations, KSPConvergedReasons[found.reason]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "new values: set-up %.3f s, solve %.3f s\n",
                          seconds[NEW_VALUES][repeats / 2], seconds[SOLVE_AGAIN][repeats / 2]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual %.1e of b, %.1e with new values\n",
                          (double)found.residual, (double)found.again));
    for (int phase = 0; phase < PHASES; ++phase) PetscCall(PetscFree(seconds[phase]));
    PetscCall(MatDestroy(&a));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(PetscFinalize());
    return 0;
}
