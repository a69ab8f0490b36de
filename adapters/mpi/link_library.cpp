// libkrylith_link_*: links over one binary interface of MPI, which libkrylith loads when it is
// asked for (comm/driver_link.hpp). Compiled for each interface; it needs nothing of libkrylith.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include <krylith/adapters/mpi/link_table.hpp>

namespace {

using krylith::mpi::check;

MPI_Comm communicator_of(std::intptr_t integer) {
#ifdef KRYLITH_STANDARD_MPI_ABI
    return MPI_Comm_fromint(static_cast<int>(integer));
#else
    return MPI_Comm_f2c(static_cast<MPI_Fint>(integer));
#endif
}

pid_t initialized_by = 0;

void finalize() {
    if (getpid() != initialized_by) return; // a child of fork()
    int over = 0;
    MPI_Finalized(&over);
    if (over == 0 && !krylith::mpi::is_broken()) MPI_Finalize();
}

void initialize() {
    int answer = 0;
    MPI_Initialized(&answer);
    if (answer != 0) return;
    int level = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
    initialized_by = getpid();
    std::atexit(finalize);
    if (level < MPI_THREAD_FUNNELED)
        throw std::runtime_error("MPI doesn't offer MPI_THREAD_FUNNELED");
}

} // namespace

extern "C" __attribute__((visibility("default"))) const char*
krylith_link_open(krylith_link* link, const intptr_t* communicator) {
    static std::string words;
    constexpr double seconds = 600;
    try {
        if (communicator == nullptr) initialize();
        const MPI_Comm comm =
            communicator == nullptr ? MPI_COMM_WORLD : communicator_of(*communicator);
        *link = krylith::mpi::make_table(comm, seconds);
        return nullptr;
    } catch (const krylith::mpi::link_end& failed) {
        words = failed.words;
    } catch (const std::exception& failed) {
        words = failed.what();
    }
    return words.c_str();
}

namespace {

[[maybe_unused]] constexpr krylith_link_open_type of_the_declared_type = krylith_link_open;

} // namespace
