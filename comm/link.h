/* How the drivers of a communicator (communicator.hpp) exchange bytes: a table of functions that whoever starts them
 * gives to krylith. It is plain C, so that it may come from a library that another compiler has
 * built. adapters/mpi.hpp makes one of an MPI communicator; link_threads() makes those of threads. */
#ifndef KRYLITH_COMM_LINK_H
#define KRYLITH_COMM_LINK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KRYLITH_LINK_VERSION 1

/* What functions return. After anything but DONE and PENDING only abort(), error() and destroy()
 * are called. */
enum krylith_link_status {
    KRYLITH_LINK_DONE = 0,
    KRYLITH_LINK_PENDING = 1,   /* not yet */
    KRYLITH_LINK_TIMED_OUT = 2, /* others have not come in time */
    KRYLITH_LINK_ENDED = 3,     /* another driver has called abort() */
    KRYLITH_LINK_FAILED = 4     /* error() says why */
};

/* One driver's table. One thread at a time calls its functions. */
typedef struct krylith_link {
    uint32_t size;    /* sizeof(krylith_link) where it was made: members beyond it are absent */
    uint32_t version; /* KRYLITH_LINK_VERSION there */
    int32_t rank;     /* of this driver, from 0 */
    int32_t n;        /* drivers */
    void* context;    /* is given to all functions */

    /* Gives bytes, the same number for all drivers, and fills all[n * bytes] with those of each, by
     * rank. Waits for all drivers, `seconds` at most. Returns a status. */
    int (*allgather)(void* context, const void* given, void* all, size_t bytes, double seconds);
    /* Begins to send bytes to another driver, or to receive them; the memory is left alone until
     * test() says that this is done. Messages between two drivers with one tag, 0 to 32767, arrive
     * in the order in which they were posted. Returns a request for test(), null on failure. */
    void* (*post)(void* context, int32_t to, int32_t tag, const void* given, size_t bytes);
    void* (*receive)(void* context, int32_t from, int32_t tag, void* place, size_t bytes);
    /* Asks whether a request is done, and frees it then. Doesn't wait. Returns a status. */
    int (*test)(void* context, void* request);
    /* Moves messages on. Doesn't wait. Returns a status. krylith doesn't call it yet. */
    int (*progress)(void* context);
    /* Tells the other drivers that this one takes no further part: their waits end at once. */
    void (*abort)(void* context);
    /* Says why a function has failed, "" if it has nothing to say. Valid until the next call. */
    const char* (*error)(void* context);
    /* Frees the context. Doesn't wait for other drivers. */
    void (*destroy)(void* context);
} krylith_link;

/* The type of krylith_link_open, which the libraries libkrylith_link_* export, one for each binary
 * interface of MPI. Fills the table of a link over a communicator, which is given as an integer: as
 * MPI_Comm_toint returns it in the standard interface, MPI_Comm_c2f in others. Collective. Null is
 * MPI_COMM_WORLD: then MPI is initialised, if it isn't, by MPI_Init_thread with
 * MPI_THREAD_FUNNELED, and finalised as the process exits. That is left out where a link has waited
 * in vain or MPI has failed: MPI_Finalize waits for all processes, also for one that is lost. The
 * launchers of Open MPI and MPICH take a process that exits so for one that has failed, and end the
 * others.
 * Returns null, or in words why there is no link; valid until the next call. */
typedef const char* (*krylith_link_open_type)(krylith_link* link, const intptr_t* communicator);

#ifdef __cplusplus
}
#endif

#endif
