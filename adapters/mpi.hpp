// A link of the processes of an MPI communicator, for programs that call MPI themselves:
//
//     MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
//     auto link = link_processes(MPI_COMM_WORLD);
//
// A communicator (comm/communicator.hpp) of the process's own devices takes the link. Programs
// that don't call MPI have link_launched_processes() (comm/driver_link.hpp).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include <krylith/adapters/mpi/link_table.hpp>
#include <krylith/comm/driver_link.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

/// Links the processes of an intra-communicator: process k of it is driver k. A process that
/// destroys its link, or calls MPI_Finalize, has ended for the others.
///
/// Collective; all processes make the links over one communicator in the same order. The first
/// duplicates the communicator, and the duplicate is freed with it; each costs an allgather of 16
/// bytes. Links are used by the thread that has initialised MPI (with MPI_THREAD_SERIALIZED by any,
/// one at a time), and destroyed before the communicator is freed. Memory that is posted must last
/// until MPI_Finalize where a link has ended before its messages were done.
///
/// Throws usage_error before MPI_Init_thread and after MPI_Finalize, for a communicator that is
/// null or between groups, and unless timeout_seconds > 0; communication_error where MPI fails, or
/// where others don't make the link within timeout_seconds.
[[nodiscard]] inline std::shared_ptr<driver_link> link_processes(MPI_Comm comm,
                                                                 double timeout_seconds = 600) {
    if (!(timeout_seconds > 0))
        throw usage_error("link_processes: timeout_seconds is " + number_text(timeout_seconds) +
                          ", allowed is more than 0");
    try {
        return std::make_shared<driver_link>(mpi::make_table(comm, timeout_seconds),
                                             timeout_seconds);
    } catch (const std::invalid_argument& refused) {
        throw usage_error(refused.what());
    } catch (const mpi::link_end& failed) {
        throw communication_error(failed.words);
    }
}

} // namespace krylith
