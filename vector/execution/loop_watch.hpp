// How the host watches a loop that devices repeat by themselves, and stops it.
//
// At the end of each trip a driver's first rank posts the residuals of the trip's iterations into
// host memory, a value and its stamp in one store, so that no fence is needed. The host stops a
// loop by a word in the same memory, which rank 0 reads once a trip. Ranks must take the same
// decision: where there are several, rank 0 hands what it has read at the end of trip k to all of
// them, stamped with k, and all act upon it at the end of trip k + 1, when it has long arrived.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include <krylith/device/kernel/all_reduce_slots.hpp>

namespace krylith {

/// The residuals that a board holds; a host that is further behind misses some. A power of two, not
/// smaller than a cycle of GMRES.
inline constexpr int loop_posts = 2048;

/// Host memory that a driver's first rank writes and the host reads, but for `order`, which rank 0
/// reads and the hosts of all drivers write, and for `carried_orders`.
struct loop_board {
    alignas(64) std::uint64_t order; ///< the number of the launch that is to stop
    alignas(64) std::uint64_t ended; ///< the number of the launch that has ended
    /// loop_watch::orders of all ranks of a driver to which rank 0's are carried; the host writes
    /// them.
    alignas(64) stamped_value carried_orders[2];
    /// Squared residual norms, that of iteration k at k % loop_posts.
    alignas(64) stamped_value posts[loop_posts];
};

/// The stamp of an iteration's residual in one launch. Launches count from 1 to 2^32 - 1, and from
/// 1 again.
[[nodiscard]] KRYLITH_HD inline std::uint64_t post_stamp(std::uint64_t launch,
                                                         std::uint64_t iteration) {
    return launch << 32 | (iteration & 0xffffffffu);
}

/// Wakes the host thread that waits for a loop of host devices.
struct loop_bell {
    std::mutex lock;
    std::condition_variable rings;
    bool rung = false;
    std::chrono::steady_clock::time_point last{}; ///< the first rank's worker alone uses it
};

/// What a rank keeps of it in its memory, zero until the first loop that is watched.
struct loop_watch {
    loop_board* board;   ///< null except on the first local rank
    loop_bell* bell;     ///< of host devices; null where `board` is
    std::uint64_t trips; ///< that were watched and went on; the same on all ranks
    stamped_value own_orders[2];
    stamped_value* orders;                 ///< what rank 0 has read, stamped with the trip
    stamped_value* peer_orders[max_ranks]; ///< rank 0's: where each rank, or who carries, has them
};

/// What the kernel that ends a trip needs of it; plain data.
struct trip_end {
    loop_watch* watch = nullptr; ///< null: this kernel ends no trip
    bool decides = false;        ///< whether it ends a trip of a recorded loop
    std::uint8_t state_slot = 0; ///< of control::state in kernel_context::slots
    std::uint8_t posted_slot = 0;
};

} // namespace krylith
