// The messages that a link posts. Loops post the same ones again and again: from the second time on
// such a message has a persistent request.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>

#include <krylith/adapters/mpi/mpi_calls.hpp>

namespace krylith::mpi {

/// What a message is: whether this process sends it, the other one, MPI's tag, memory, bytes.
using message_kind = std::tuple<bool, int, int, const void*, std::size_t>;

struct message {
    bool sent = false;
    int peer = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    bool persistent = false;
    bool posted = false; ///< and test() has not said that it is done
};

class messages {
public:
    message& post(MPI_Comm comm, bool sent, int peer, int tag, const void* memory,
                  std::size_t bytes) {
        const message_kind kind(sent, peer, tag, memory, bytes);
        auto [at, end] = known_.equal_range(kind);
        while (at != end && at->second.posted) ++at;
        const bool again = at != end;
        if (!again) {
            if (known_.size() >= most_known) forget();
            at = known_.emplace(kind, message{.sent = sent, .peer = peer});
        }
        begin(comm, at->second, kind, again);
        return at->second;
    }

    /// Whether it is done.
    [[nodiscard]] bool test(message& one) {
        if (!is_done(one.request)) return false;
        one.posted = false;
        return true;
    }

    /// Gives up what has not begun to arrive. Throws nothing.
    void cancel() noexcept {
        for (auto& [kind, one] : known_)
            if (one.posted && !one.sent) MPI_Cancel(&one.request);
    }
    /// Whether MPI has nothing more to do with the memory of any.
    [[nodiscard]] bool idle() {
        for (auto& [kind, one] : known_)
            if (one.posted && !test(one)) return false;
        return true;
    }

    /// Frees the requests of all that are done.
    void forget() {
        for (auto at = known_.begin(); at != known_.end();) {
            message& one = at->second;
            if (!one.posted && one.persistent) MPI_Request_free(&one.request);
            at = one.posted ? std::next(at) : known_.erase(at);
        }
    }

private:
    static constexpr std::size_t most_known = 4096;

    static void begin(MPI_Comm comm, message& one, const message_kind& kind, bool again) {
        const auto& [sent, peer, tag, memory, bytes] = kind;
        void* const place = const_cast<void*>(memory); // NOLINT(*-const-cast): where it receives
        if (!one.persistent) {
            const byte_count count(bytes);
            MPI_Request* const request = &one.request;
            const int code = again ? (sent ? MPI_Send_init(memory, count.count(), count.type(),
                                                           peer, tag, comm, request)
                                           : MPI_Recv_init(place, count.count(), count.type(), peer,
                                                           tag, comm, request))
                                   : (sent ? MPI_Isend(memory, count.count(), count.type(), peer,
                                                       tag, comm, request)
                                           : MPI_Irecv(place, count.count(), count.type(), peer,
                                                       tag, comm, request));
            check(code, sent ? "sending a message by MPI" : "receiving a message by MPI");
            one.persistent = again;
        }
        if (one.persistent) check(MPI_Start(&one.request), "MPI_Start");
        one.posted = true;
    }

    std::multimap<message_kind, message> known_;
};

} // namespace krylith::mpi
