// The devices of a KSP: those of its processes together.
#pragma once

#include <petscsys.h>

#include <krylith/adapters/petsc/ksp_options.hpp>
#include <krylith/comm/communicator.hpp>

namespace krylith::petsc {

/// Makes the communicator of the processes of PETSc's `comm`, each with the devices that the
/// options give it. Collective.
[[nodiscard]] communicator make_communicator(MPI_Comm comm, const ksp_options& options);

} // namespace krylith::petsc
