// The persistent levels of one device: the kernel of persistent_levels.hpp with its memory, and the
// choice of backend.
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
    std::int64_t entries;           ///< entries of the frontier that it started from
    std::int64_t frontier_nonzeros; ///< edges that leave these entries
    double seconds;                 ///< time on the device
};

/// The result of one launch. It ended because of `wide`, too many nonzeros, no entries, or else
/// after enough levels.
struct persistent_levels {
    std::span<const level_record> levels; ///< valid until the next launch
    std::int64_t entries = 0;             ///< entries of the frontier that is left
    std::int64_t frontier_nonzeros = 0;
    bool wide = false; ///< whether that frontier has a vertex of more than widest_vertex edges
};

/// Runs one launch at a time: enqueue(), then wait(). It is not copyable. Memory: 32 bytes times
/// the smaller of the vertices and most_frontier_nonzeros, and 16 KiB of the host's.
class persistent_search {
public:
    /// Takes a graph that lies on the device as a whole. Frontiers with more than
    /// `most_frontier_nonzeros` (1 or more) are left to products. Throws device_error where memory
    /// is short.
    persistent_search(std::shared_ptr<device> device, const edge_lists& graph,
                      std::int64_t vertices, std::int64_t most_frontier_nonzeros);

    /// The most entries of x that a launch can start from.
    [[nodiscard]] std::int64_t room() const noexcept { return room_; }

    /// Enqueues levels from x: at most `most_levels`, 1 or more, and no more than one launch takes.
    /// The first level that is reached is rule.level; rule's levels, parents (-1: not reached) and
    /// visited bits are those of the levels before. x becomes the frontier that is left. Throws
    /// usage_error where x has more than room() entries.
    void enqueue(const visit& rule, sparse_vector<std::int32_t>& x, std::int64_t most_levels);

    /// Waits for the launch; x then has its forms. Throws device_error where the device failed.
    [[nodiscard]] persistent_levels wait(sparse_vector<std::int32_t>& x);

private:
    std::shared_ptr<device> device_;
    edge_lists graph_;
    std::int64_t most_frontier_nonzeros_;
    std::int64_t room_;
    buffer<frontier_vertex> frontiers_; ///< the current and the next frontier
    buffer<std::byte> scratch_;
    posted_words posted_;
    std::vector<level_record> log_;
};

} // namespace krylith::spmspv
