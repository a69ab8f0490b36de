// The memory through which the devices of a group add up scalars without the host.
//
// On one machine each rank has slots that its peers write. A value travels with the number of its
// batch (the epoch) in one 16-byte store, so that no fence and no separate flag is needed; the
// reader polls until the epoch is the one it expects, then adds the ranks' values in rank order:
// the same bits on every device and in every run.
//
// Where ranks are on several machines, the hosts add up the values of all ranks in the same order
// (posted_sums), and what a rank finds in its slots is the sum.
//
// Two batches alternate. That is enough because a kernel that publishes batch e + 1 has read batch
// e in all its blocks: when a peer publishes e + 2 it has read this rank's e + 1, so e is free.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The ranks of a solve. GPUs of one machine are fewer: a warp adds up what they reduce, and
/// kernels have room for each of them in their parameters or shared memory.
inline constexpr int max_ranks = 64;
inline constexpr int max_gpus = 16;

struct alignas(16) stamped_value {
    double value;
    std::uint64_t epoch; ///< 0: never written; batches count from 1
};

/// The stamp from which the host learns how many values a batch has.
[[nodiscard]] KRYLITH_HD constexpr std::uint64_t counted_stamp(std::uint64_t epoch, int count) {
    return epoch | static_cast<std::uint64_t>(count) << 40;
}

[[nodiscard]] constexpr int batch_count(std::uint64_t stamp) {
    return static_cast<int>(stamp >> 40);
}

/// One rank's view; plain pointers, passed to kernels by value.
struct all_reduce_slots {
    stamped_value* own_slots; ///< this rank's, see at()
    /// Sums that the host has formed, in its memory; null: it forms none, or for host devices.
    /// Reads of one line there by many blocks take about 2 us each, one after the other: the first
    /// block of a kernel takes values from here to own_slots, where all of them wait.
    const stamped_value* inbox;
    /// [sources] Where to write for each rank: its slots or a staging copy, or for the host.
    stamped_value* const* peer_slots;
    std::uint64_t* published; ///< batches that this rank has published
    unsigned* signals;        ///< blocks of the publishing kernel that have finished; 0 between
    std::int32_t* failure;    ///< 0, or 1 + the rank that did not answer (awaited())
    std::int32_t* const* failures;  ///< [ranks] the peers' failure words
    const std::uint32_t* launching; ///< device_group::launching()
    std::uint64_t timeout_ns;
    std::int32_t ranks;
    std::int32_t rank;
    std::int32_t
        sources; ///< values that make a sum: one a rank, or the one that the host has formed
    std::int32_t capacity; ///< values in the largest batch

    [[nodiscard]] KRYLITH_HD bool summed_by_host() const { return sources != ranks; }
    /// The number of this rank among the sources.
    [[nodiscard]] KRYLITH_HD int own_source() const { return summed_by_host() ? 0 : rank; }
    /// Who is awaited with a source: a rank, or `ranks` where the host has to find out.
    [[nodiscard]] KRYLITH_HD int awaited(int source) const {
        return summed_by_host() ? ranks : source;
    }
    /// What the values of a batch are stamped with.
    [[nodiscard]] KRYLITH_HD std::uint64_t stamp(std::uint64_t epoch, int count) const {
        return summed_by_host() ? counted_stamp(epoch, count) : epoch;
    }
    /// Place of one value inside the slots of a rank: what one source sends is contiguous.
    [[nodiscard]] KRYLITH_HD std::int64_t at(std::uint64_t epoch, int value, int from) const {
        return (static_cast<std::int64_t>(from) * 2 + static_cast<std::int64_t>(epoch & 1)) *
                   capacity +
               value;
    }
};

} // namespace krylith
