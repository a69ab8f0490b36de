// The chunks into which kernels on host devices divide the entries of vectors.
#pragma once

#include <algorithm>
#include <cstdint>

#include <krylith/device/host/host_team.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/ghosts/ghost_put.hpp>

namespace krylith::host {

/// Divides entries 0..size-1 into chunks whose bounds depend on nothing but the size.
struct chunking {
    std::int64_t size;
    std::int64_t length; ///< of each chunk but the last; a multiple of tile_size
    std::int64_t count;  ///< at most reduction_chunks

    explicit chunking(std::int64_t entries) : size(entries) {
        constexpr std::int64_t unit = 1024;
        static_assert(unit % tile_size<double> == 0 && unit % tile_size<float> == 0);
        const std::int64_t least = (size + reduction_chunks - 1) / reduction_chunks;
        length = std::max(unit, (least + unit - 1) / unit * unit);
        count = (size + length - 1) / length;
    }
};

/// Calls body(chunk, begin, end) for ranges of at most `tile` entries; those of one chunk run on
/// one thread and in order.
template <class Body>
void for_tiles(const chunking& all, int threads, std::int64_t tile, const Body& body) {
    constexpr std::int64_t chunks_worth_a_thread = 4;
    const auto most = std::max<std::int64_t>(1, all.count / chunks_worth_a_thread);
    in_team(static_cast<int>(std::min<std::int64_t>(threads, most)), [&](int thread, int team) {
        const std::int64_t last = all.count * (thread + 1) / team;
        for (std::int64_t chunk = all.count * thread / team; chunk < last; ++chunk) {
            const std::int64_t end = std::min(all.size, (chunk + 1) * all.length);
            for (std::int64_t at = chunk * all.length; at < end; at += tile)
                body(chunk, at, std::min(end, at + tile));
        }
    });
}

} // namespace krylith::host
