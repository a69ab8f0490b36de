/* krylith as a KSP of PETSc's, of type "krylith". A program that was built without it is told by
 * options alone:
 *
 *     mpirun -n 4 ./program -dll_append /usr/lib/libkrylith_petsc.so -ksp_type krylith
 *
 * One that is linked with libkrylith_petsc calls, after PetscInitialize(),
 *
 *     KSPKrylithRegister();
 *     ...
 *     KSPSetType(ksp, KSPKRYLITH);
 *
 * Its options, and what it takes and refuses, are on the page docs/petsc.md. For C and C++.
 */
#ifndef KRYLITH_ADAPTERS_PETSC_H
#define KRYLITH_ADAPTERS_PETSC_H

#include <petscksp.h>

#define KSPKRYLITH "krylith"

/* Makes the type known to KSPSetType() and -ksp_type. It may be called again. */
PETSC_EXTERN PetscErrorCode KSPKrylithRegister(void);

#endif
