// How kernels of ranks agree on data that one stores into memory of another: the sender signals
// each put, and the receiver gives credit for what it has read, so that it may be overwritten. Both
// are counts in memory of the rank that waits for them.
#pragma once

#include <cstdint>

namespace krylith {

/// What one peer has counted.
struct alignas(16) peer_count {
    std::uint64_t count;
    std::int64_t peer; ///< its rank, which nobody changes
};

/// Puts that a kernel waits for: each sender has signalled as many as are expected.
struct put_signal {
    const peer_count* sent;        ///< [senders]
    const std::uint64_t* expected; ///< counted by this rank itself
    std::int32_t senders;          ///< 0: none
};

/// One rank's ends of a channel; plain data for kernels. Puts are counted from 1, by ranks that
/// only receive, too: put number e may overwrite what put e - 1 has left at a receiver once that
/// has given credit for it.
struct channel_view {
    std::uint64_t* const* signals;      ///< [receivers] this rank's count at each of them
    const peer_count* credits;          ///< [receivers] theirs here
    std::uint64_t* const* peer_credits; ///< [senders] this rank's count at each of them
    const peer_count* sent;             ///< [senders] theirs here
    std::uint64_t* put_count;           ///< puts so far
    std::uint64_t* credited;            ///< the put for which credit was last given
    unsigned* ticket;                   ///< blocks of a kernel that have put; 0 between kernels
    std::int32_t receivers;
    std::int32_t senders;

    [[nodiscard]] put_signal arrived() const { return {sent, put_count, senders}; }
};

} // namespace krylith
