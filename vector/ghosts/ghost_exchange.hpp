// The exchange of ghosts of one domain vector: signals, credits, counters and the places of the
// ghosts on each peer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/allgather/allgather_plan.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/vector/execution/kernel_context.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// The entries that an operator's domain vectors send: those of the halo plan, tile by tile and
/// uploaded once, or all entries to all ranks with rows (a dense put, which needs no lists).
template <class T>
class put_schedule {
public:
    put_schedule(layout_handle layout, const halo_plan& plan);
    put_schedule(layout_handle layout, const allgather_plan& plan);
    /// The schedule of vectors that have `columns` entries in the place of each of `of`: the ghosts
    /// of all columns travel in one put. `layout` is in_columns() of that of `of`. Downloads the
    /// entries. A rank has at most 2^31 - 1 of them, ghosts included. Throws usage_error for a
    /// dense put.
    put_schedule(layout_handle layout, const put_schedule& of, int columns);

    [[nodiscard]] std::int64_t ghosts(int rank) const { return local(rank).ghosts; }
    [[nodiscard]] const layout_handle& layout() const { return layout_; }

    struct message {
        int peer;
        std::int64_t position; ///< first place among the peer's ghosts
        std::int64_t count;
    };

    struct local_put {
        buffer<std::int32_t> tile_order;
        buffer<std::int32_t> first_entry;
        buffer<put_entry> entries;
        std::vector<message> messages;
        std::int64_t ghosts = 0;
        std::int32_t sending_tiles = 0;
        std::uint32_t to = 0;
        std::uint32_t from = 0;
        std::int64_t dense = 0; ///< entries of a dense put
    };
    [[nodiscard]] const local_put& local(int rank) const {
        return local_[static_cast<std::size_t>(rank)];
    }

private:
    void list(int rank, std::int64_t ghosts, std::uint32_t from,
              const std::vector<halo_send>& sends);

    layout_handle layout_;
    std::vector<local_put> local_;
};

template <class T>
class ghost_exchange {
public:
    /// `arrays[rank]` is the domain vector's storage on each rank, ghosts after the held entries.
    ghost_exchange(std::shared_ptr<const put_schedule<T>> schedule, std::span<T* const> arrays);

    /// Returns the arguments for the kernel of `rank` that writes the domain vector.
    [[nodiscard]] ghost_put<T> put(int rank, bool ordered) const;
    /// Returns the signal that the kernel of `rank` that reads the ghosts waits for.
    [[nodiscard]] put_signal arrived(int rank) const;
    /// Copies what the kernels left in staging buffers to the peers (staged transport). Does
    /// nothing where all paths are direct.
    void forward() const;

private:
    struct rank_state;
    std::shared_ptr<const put_schedule<T>> schedule_;
    std::vector<std::shared_ptr<rank_state>> ranks_;
    std::shared_ptr<const void> restoration_; ///< of the words, after a failure
};

} // namespace krylith
