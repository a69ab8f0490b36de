// The memory through which the devices of a group add up scalars without the host.
//
// Each rank has slots that its peers write. A value travels with the number of its batch (the
// epoch) in one 16-byte store, so that no fence and no separate flag is needed; the reader polls
// until the epoch is the one it expects, then adds the ranks' values in rank order: the same bits
// on every device and in every run.
//
// Two batches alternate. That is enough because a kernel that publishes batch e + 1 has read batch
// e in all its blocks: when a peer publishes e + 2 it has read this rank's e + 1, so e is free.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The ranks of a solve. GPUs are fewer: a warp adds up what they reduce, and kernels have room for
/// each of them in their parameters or shared memory.
inline constexpr int max_ranks = 64;
inline constexpr int max_gpus = 16;

struct alignas(16) stamped_value {
    double value;
    std::uint64_t epoch; ///< 0: never written; batches count from 1
};

/// One rank's view; plain pointers, passed to kernels by value.
struct all_reduce_slots {
    stamped_value* own_slots; ///< this rank's, see at()
    /// What comes from GPUs of other machines, in memory of the host; null: nothing does. Reads of
    /// one line there by many blocks take about 2 us each, one after the other: the first block of
    /// a kernel takes values from here to own_slots, where all of them wait.
    const stamped_value* inbox;
    stamped_value* const*
        peer_slots;           ///< [ranks] where to write for each rank: its slots or a staging copy
    std::uint64_t* published; ///< batches that this rank has published
    unsigned* signals;        ///< blocks of the publishing kernel that have finished; 0 between
    std::int32_t* failure;    ///< 0, or 1 + the rank that did not answer in time
    std::int32_t* const* failures;  ///< [ranks] the peers' failure words
    const std::uint32_t* launching; ///< device_group::launching()
    std::uint64_t timeout_ns;
    std::int32_t ranks;
    std::int32_t rank;
    std::int32_t capacity; ///< values in the largest batch

    /// Place of one value inside the slots of a rank: what one rank sends is contiguous.
    [[nodiscard]] KRYLITH_HD std::int64_t at(std::uint64_t epoch, int value, int from) const {
        return (static_cast<std::int64_t>(from) * 2 + static_cast<std::int64_t>(epoch & 1)) *
                   capacity +
               value;
    }
};

} // namespace krylith
