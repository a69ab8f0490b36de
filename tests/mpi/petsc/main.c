/* The KSP of type krylith beside PETSc's own. Each process runs all cases; one that fails says
 * where, and ends them all. */
#include "cases.h"
#include "support.h"

int main(int argc, char** argv) {
    WELL(PetscInitialize(&argc, &argv, NULL, NULL));
    WELL(KSPKrylithRegister());
    reasons();
    residuals();
    solutions();
    second_matrix();
    empty_processes();
    null_space();
    refused_uses();
    refused_options();
    nothing_left();
    WELL(PetscFinalize());
    return 0;
}
