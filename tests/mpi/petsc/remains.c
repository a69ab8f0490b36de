#include <dirent.h>

#include "cases.h"
#include "support.h"

static int entries_of(const char* folder) {
    int count = 0;
    DIR* const open = opendir(folder);
    CHECK(open != NULL);
    while (readdir(open) != NULL) ++count;
    closedir(open);
    return count;
}

/* KSPs that are gone leave no files and no memory behind; nor threads, but for those of OpenMP. */
void nothing_left(void) {
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
