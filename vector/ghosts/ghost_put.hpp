// The put of a domain vector: the kernel that computes its entries also sends them to the ranks
// that keep copies of them.
#pragma once

#include <cstdint>

#include <krylith/comm/channel/channel_view.hpp>

namespace krylith {

/// Kernels process entries of a vector in tiles; the tiles with entries to send come first, so that
/// the exchange overlaps with the rest of the kernel.
template <class T>
inline constexpr std::int32_t tile_size = 4096 / sizeof(T); ///< 256 threads, 16 bytes each

/// One entry that is sent.
struct put_entry {
    std::int32_t row;      ///< local row of this rank
    std::int32_t position; ///< at the receiver, from its first owned entry; below 0: before it
    std::int32_t receiver; ///< its number in the channel
};

/// One rank's view of the exchange of one vector; plain data for kernels.
///
/// A *dense* put sends all entries to every receiver, with no list of them: tiles keep their
/// order, and entry i goes to ghosts[receiver] + i.
template <class T>
struct ghost_put {
    const std::int32_t* tile_order;  ///< [tiles] sending tiles first; dense: null
    const std::int32_t* first_entry; ///< [sending_tiles + 1] into entries; dense: null
    const put_entry* entries;        ///< by tile, then receiver, then position; dense: null
    T* const* ghosts; ///< [receivers] where their owned entries start, with their ghosts around
                      ///< them (or staging); dense: where this rank's entries go
    channel_view channel;
    std::int32_t sending_tiles;
    bool ordered;           ///< events already order this put against the readers: no waiting
    std::int64_t dense = 0; ///< entries of a dense put; 0: the lists say what is sent
};

} // namespace krylith
