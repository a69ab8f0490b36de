/* What tests of the KSP of type krylith share. */
#ifndef KRYLITH_TESTS_PETSC_SUPPORT_H
#define KRYLITH_TESTS_PETSC_SUPPORT_H

#include <krylith/adapters/petsc.h>

#include <string.h>

extern char words[4096];       /* of the first error since it was emptied */
extern PetscErrorCode refused; /* what the last KSPSetFromOptions() of make_ksp() returned */

/* Keeps the words of the first error. */
PetscErrorCode keep_words(MPI_Comm comm, int line, const char* function, const char* file,
                          PetscErrorCode code, PetscErrorType kind, const char* message,
                          void* context);

/* Ends all processes, saying where, unless something is right. */
void check(int right, const char* file, int line);
#define CHECK(condition) check((condition) != 0, __FILE__, __LINE__)
#define WELL(call) check((call) == 0, __FILE__, __LINE__)

/* What must fail, in these words among others. */
#define FAILS(call, text)                                                                          \
    do {                                                                                           \
        words[0] = '\0';                                                                           \
        PetscPushErrorHandler(keep_words, NULL);                                                   \
        const int failed_ = (call) != 0;                                                           \
        PetscPopErrorHandler();                                                                    \
        check(failed_&& strstr(words, text) != NULL, __FILE__, __LINE__);                          \
    } while (0)

/* The 5-point Laplacian on n^2 points plus `shift` times the identity; with a part that is not
 * symmetric if `wind` is not 0, and without the couplings in y if it is `thin`. */
Mat laplacian(PetscInt n, PetscReal shift, PetscReal wind, int thin, MatType type);

Vec right_side(Mat a);

/* A KSP of krylith's with options of its own, which solves to 1e-11. */
KSP make_ksp(Mat a, Mat p, const char* options);

/* Checks x beside the solution that PETSc's gmres finds. */
void check_solution(Mat a, Vec b, Vec x, const char* file, int line);
#define CHECK_SOLUTION(a, b, x) check_solution(a, b, x, __FILE__, __LINE__)

/* Solves from 0 and checks the solution. */
void solve_and_check(KSP ksp, Vec b, const char* file, int line);
#define SOLVE_AND_CHECK(ksp, b) solve_and_check(ksp, b, __FILE__, __LINE__)

KSPConvergedReason reason_of(KSP ksp, Vec b);

#endif
