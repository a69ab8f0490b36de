// One process's end of a link over MPI, and what it tells the others when it ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <krylith/adapters/mpi/gathering.hpp>
#include <krylith/adapters/mpi/messages.hpp>

namespace krylith::mpi {

class link_family;

/// What a process tells each other one when its end of a link ends: counts, by which the others
/// know what of it is still to come.
struct end_notice {
    std::uint64_t serial = 0;   ///< of the link
    std::uint64_t gathered = 0; ///< allgathers that it has finished
    std::uint64_t sent = 0;     ///< messages that it has posted to the one that is told
    std::uint64_t received = 0; ///< and those of that one that have arrived
    std::int64_t cause = 0;     ///< the process that has ended first, as far as it knows
    std::uint64_t broken = 0;   ///< not 0: it has waited in vain, or MPI has failed
};

/// The state of a link's end, which outlives the table until the others have ended, too.
struct process_link {
    struct peer {
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        bool ended = false;
        end_notice end; ///< where it has ended
    };

    /// Throws link_end where a process has ended that has not finished the allgather under way, or
    /// to come.
    void check_ends() {
        if (least_gathered <= gathered) throw_ended(peers[static_cast<std::size_t>(least_peer)]);
    }
    /// That process has ended, or the one that it has ended for.
    [[noreturn]] void throw_ended(const peer& one) {
        cause = one.end.cause;
        throw link_end{KRYLITH_LINK_ENDED,
                       "driver " + std::to_string(cause) + " of the communicator has ended"};
    }

    void take(int from, const end_notice& notice) {
        peer& one = peers[static_cast<std::size_t>(from)];
        one.ended = true;
        one.end = notice;
        if (notice.gathered < least_gathered) {
            least_gathered = notice.gathered;
            least_peer = from;
        }
    }

    /// Tells the others, once, and gives up what has not arrived. Throws nothing: where MPI fails,
    /// the others wait until their time is over.
    void end(int tag, int rank) noexcept {
        if (ended) return;
        ended = true;
        gather.cancel();
        posted.cancel();
        for (std::size_t k = 0; k < peers.size(); ++k) {
            if (static_cast<int>(k) == rank) continue;
            told[k] = {serial,
                       gathered,
                       peers[k].sent,
                       peers[k].received,
                       cause < 0 ? rank : cause,
                       broken ? 1U : 0U};
            (void)MPI_Isend(&told[k], static_cast<int>(sizeof told[k]), MPI_BYTE,
                            static_cast<int>(k), tag, comm, &telling[k]);
        }
    }

    /// Whether all processes have ended. Each notice is behind all else that its sender had for
    /// this link.
    [[nodiscard]] bool all_have_ended(int rank) const {
        for (std::size_t k = 0; k < peers.size(); ++k)
            if (static_cast<int>(k) != rank && !peers[k].ended) return false;
        return ended;
    }
    /// Whether MPI has nothing more to do with the memory of this.
    [[nodiscard]] bool idle() {
        return gather.idle() && posted.idle() && std::ranges::all_of(telling, is_done);
    }
    /// Whether nothing of this link is under way, and all that was sent has been received: its tags
    /// can serve another one.
    [[nodiscard]] bool is_over(int rank) {
        if (torn || !all_have_ended(rank) || !idle()) return false;
        for (std::size_t k = 0; k < peers.size(); ++k) {
            const peer& one = peers[k];
            if (static_cast<int>(k) != rank &&
                (one.end.gathered != gathered || one.end.sent != one.received ||
                 one.end.received != one.sent))
                return false;
        }
        return true;
    }

    link_family* family = nullptr; ///< null after MPI_Finalize
    std::uint64_t serial = 0;
    std::size_t duplicate = 0; ///< of the family, and the slot of its tags
    int slot = 0;
    MPI_Comm comm = MPI_COMM_NULL; ///< for the messages of this link
    gathering gather;
    messages posted;
    std::uint64_t gathered = 0;
    std::vector<peer> peers;
    std::uint64_t least_gathered = std::numeric_limits<std::uint64_t>::max();
    int least_peer = 0;
    std::vector<end_notice> told;
    std::vector<MPI_Request> telling;
    std::int64_t cause = -1; ///< the process whose end has ended this, where one has
    bool ended = false;      ///< the others have been told
    bool destroyed = false;  ///< no table has it any more
    bool kept = false;       ///< MPI may still use its memory after MPI_Finalize has begun
    bool torn = false;       ///< an allgather has not been finished
    bool broken = false;     ///< a wait has been in vain, or MPI has failed
    unsigned tests = 0;
    std::string words; ///< for error()
};

} // namespace krylith::mpi
