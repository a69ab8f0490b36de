// The exchange of ghosts of one domain vector: signals, credits, counters and the places of the
// ghosts on each peer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/comm/channel/channel.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/halo/index_map.hpp>
#include <krylith/vector/execution/kernel_context.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith {

/// Entries that a rank sends to a peer.
struct listed_send {
    int peer = 0;
    std::span<const std::int32_t> rows; ///< local to the sender: 0 is the first that it owns;
                                        ///< ascending
    std::int64_t position = 0;          ///< of the first at the peer; the others follow it
};

/// The entries that an operator's domain vectors send, so that every rank gets its ghosts: tile by
/// tile and uploaded once, or all entries to all ranks that have all (a dense put, which needs no
/// lists).
template <class T>
class put_schedule {
public:
    /// The layout is owned, by the map's owners. Collective.
    put_schedule(layout_handle layout, index_map map);
    /// The schedule of vectors that have `columns` entries in the place of each of `of`: the ghosts
    /// of all columns travel in one put. `layout` is in_columns() of that of `of`. Downloads the
    /// entries. A rank has at most 2^31 - 1 of them, ghosts included. Throws usage_error for a
    /// dense put.
    put_schedule(layout_handle layout, const put_schedule& of, int columns);

    [[nodiscard]] std::int64_t ghosts(int rank) const { return local(rank).ghosts; }
    [[nodiscard]] const layout_handle& layout() const { return layout_; }
    /// The number of ghosts before the entries that a rank, local or not, owns.
    [[nodiscard]] std::int64_t below(int rank) const {
        return below_[static_cast<std::size_t>(rank)];
    }
    /// Whether ranks have the same ghosts by both. O(ghosts) where these are other lists.
    [[nodiscard]] bool has_ghosts_of(const put_schedule& other) const {
        return this == &other || (columns_ == other.columns_ && map_ == other.map_);
    }

    /// Places at a peer are counted from the first entry that it owns: those below are negative.
    struct message {
        int peer;
        std::int64_t position; ///< of the first entry
        std::int64_t count;
    };

    /// What a rank gets of its peers, in the same way.
    [[nodiscard]] std::vector<message> received(int rank) const;

    struct local_put {
        buffer<std::int32_t> tile_order;
        buffer<std::int32_t> first_entry;
        buffer<put_entry> entries;
        std::vector<message> messages; ///< in the order in which entries number receivers
        std::int64_t ghosts = 0;
        std::int32_t sending_tiles = 0;
        std::int64_t dense = 0; ///< entries of a dense put
    };
    [[nodiscard]] const local_put& local(int rank) const {
        return local_[static_cast<std::size_t>(rank)];
    }

private:
    void list(int rank, const std::vector<listed_send>& sends);
    void take_all(int rank);

    layout_handle layout_;
    index_map map_;
    int columns_ = 1; ///< entries for each of the map
    std::vector<local_put> local_;
    std::vector<std::int64_t> below_; ///< [ranks]
};

template <class T>
class ghost_exchange {
public:
    /// `arrays[rank]` is where the entries that the rank owns begin, with its ghosts around them.
    /// Collective.
    ghost_exchange(std::shared_ptr<const put_schedule<T>> schedule, std::span<T* const> arrays);

    /// Whether the ghosts are those of a schedule.
    [[nodiscard]] bool is_of(const put_schedule<T>& schedule) const {
        return schedule_->has_ghosts_of(schedule);
    }
    /// The number of ghosts before the entries that a rank owns.
    [[nodiscard]] std::int64_t below(int rank) const { return schedule_->below(rank); }
    /// Returns the arguments for the kernel of `rank` that writes the domain vector.
    [[nodiscard]] ghost_put<T> put(int rank, bool ordered) const;
    [[nodiscard]] const channel_view& channel_of(int rank) const { return channel_.view(rank); }
    /// Returns the signal that the kernel of `rank` that reads the ghosts waits for.
    [[nodiscard]] put_signal arrived(int rank) const { return channel_.view(rank).arrived(); }
    /// Copies what the kernels left in staging buffers to the peers (staged transport). Does
    /// nothing where all paths are direct.
    void forward() const;

private:
    struct rank_state;
    void find_places(int rank);
    [[nodiscard]] std::vector<channel::posted_data> posted_data() const;

    std::shared_ptr<const put_schedule<T>> schedule_;
    channel channel_;
    std::vector<std::shared_ptr<rank_state>> ranks_; ///< [ranks]
    std::vector<T*> first_owned_;                    ///< of all ranks' arrays
};

} // namespace krylith
