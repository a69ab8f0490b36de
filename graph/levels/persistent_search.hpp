// What one device needs to walk levels in one launch: persistent_levels.hpp with its memory, and
// the choice of backend.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/graph/levels/persistent_levels.hpp>
#include <krylith/spmspv/sparse_vector.hpp>

namespace krylith::spmspv {

struct level_record {
    std::int64_t entries;           ///< of the frontier that it was reached from
    std::int64_t frontier_nonzeros; ///< edges that leave these
    double seconds;                 ///< on the device
};

/// Of one walk. What ended it: `wide`, work above the walker's, no entries, or else enough levels.
struct persistent_levels {
    std::span<const level_record> levels; ///< until the next walk
    std::int64_t entries = 0;             ///< of the frontier left over
    std::int64_t frontier_nonzeros = 0;
    bool wide = false; ///< it has a vertex of more than widest_vertex edges
};

/// Not copyable. One walk at a time: enqueue(), then wait(). Memory: 32 bytes times the least of
/// the vertices and most_work, and 16 KiB of the host's.
class persistent_search {
public:
    /// Of a graph that the device has all of. Frontiers that more than `most_work` edges leave, 1
    /// or more, are left to others. Throws device_error where memory is short.
    persistent_search(std::shared_ptr<device> device, const edge_lists& graph,
                      std::int64_t vertices, std::int64_t most_frontier_nonzeros);

    /// Entries of x that a walk can begin with.
    [[nodiscard]] std::int64_t room() const noexcept { return room_; }

    /// Enqueues a walk from x, at most `most_levels` of them, 1 or more, and as many as one launch
    /// takes. The first that is reached is rule.level; rule's levels, parents (-1: not reached) and
    /// visited bits are those of the levels before. x becomes the frontier left over. Throws
    /// usage_error where x has more than room() entries.
    void enqueue(const visit& rule, sparse_vector<std::int32_t>& x, std::int64_t most_levels);

    /// Until it has ended; x then knows what it holds. Throws device_error where the device failed.
    [[nodiscard]] persistent_levels wait(sparse_vector<std::int32_t>& x);

private:
    std::shared_ptr<device> device_;
    edge_lists graph_;
    std::int64_t most_frontier_nonzeros_;
    std::int64_t room_;
    buffer<frontier_vertex> frontiers_; ///< both
    buffer<std::byte> scratch_;
    posted_words posted_;
    std::vector<level_record> log_;
};

} // namespace krylith::spmspv
