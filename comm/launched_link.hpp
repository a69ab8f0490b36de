// Links of processes that an MPI launcher has started, for programs that don't call MPI. krylith
// links no MPI: it loads a library libkrylith_link_*, of which there is one for each binary
// interface of MPI, when it is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <krylith/comm/driver_link.hpp>

namespace krylith {

/// Links the processes of MPI_COMM_WORLD, where mpirun, mpiexec or srun has started this one with
/// others: process k is driver k. Null where it runs alone. MPI is initialised if it isn't, and
/// then finalised when the process exits; a program that calls MPI itself does so before.
///
/// Which library is loaded follows from the MPI library that the process has loaded already, or
/// else from the launcher, or else from what can be loaded. The environment variable KRYLITH_LINK
/// has the path of another, or says `none`: then each process runs alone.
///
/// Collective; waits as MPI_Init_thread and MPI_Comm_dup do. Throws usage_error unless
/// timeout_seconds > 0, where there is a launcher and no library for it, and where MPI knows of
/// this process alone, since it is not the launcher's; communication_error where MPI fails.
[[nodiscard]] std::shared_ptr<driver_link> link_launched_processes(double timeout_seconds = 600);

/// Links the processes of a communicator by a library libkrylith_link_*: its path, or empty for the
/// one of the MPI that is loaded or can be. The communicator is an integer, as MPI_Comm_toint
/// returns it in the standard interface of MPI 5 and MPI_Comm_c2f in others; without, it is
/// MPI_COMM_WORLD. Collective; costs, and throws, as link_launched_processes() does.
[[nodiscard]] std::shared_ptr<driver_link> open_link(const std::string& library,
                                                     std::optional<std::intptr_t> communicator = {},
                                                     double timeout_seconds = 600);

} // namespace krylith
