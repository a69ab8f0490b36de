// Memory of column kernels with sort on a host device: 8 + 2 s bytes a term, 4 an entry of x, and
// counters and sums of threads and tiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <krylith/spmspv/kernels/host_ranges.hpp>

namespace krylith::host {

/// The number of terms of a tile, which one thread sums up: tiles, not threads, decide where the
/// sum of a long row is cut, so that its bits don't depend on the number of threads.
inline constexpr std::int64_t sum_tile = 4096;

inline constexpr int most_digit_bits = 11; ///< in one pass of the radix sort

inline constexpr int most_sorters = 64; ///< one thread adds up all their counters

/// The number of threads that sort so many terms: their counters must not outgrow the terms.
[[nodiscard]] inline int sort_team(int threads, std::int64_t terms) {
    return team_for(std::min(threads, most_sorters), terms);
}

template <class T>
struct term_list {
    std::int32_t* rows;
    T* terms;
};

template <class T>
struct sort_scratch {
    term_list<T> lists[2];  ///< [frontier_nonzeros] each
    T* heads;               ///< [tiles] the sum for a row that began in a tile before
    std::int32_t* begun;    ///< [tiles] rows that begin in the tile
    std::int32_t* starts;   ///< [entries + 1]
    std::int32_t* sums;     ///< [most_threads]
    std::int32_t* counters; ///< [sort_team][1 << most_digit_bits]
    std::size_t bytes;

    /// Divides `memory`, which is aligned for T; null to know only the number of bytes.
    [[nodiscard]] static sort_scratch in(std::byte* memory, std::int64_t entries,
                                         std::int64_t frontier_nonzeros) {
        std::size_t used = 0;
        const auto take = [&]<class Item>(Item*& array, std::int64_t count) {
            array = memory == nullptr ? nullptr : reinterpret_cast<Item*>(memory + used);
            used += static_cast<std::size_t>(count) * sizeof(Item);
        };
        const std::int64_t tiles = (frontier_nonzeros + sum_tile - 1) / sum_tile;
        sort_scratch s = {};
        for (auto& list : s.lists) take(list.terms, frontier_nonzeros);
        take(s.heads, tiles);
        for (auto& list : s.lists) take(list.rows, frontier_nonzeros);
        take(s.begun, tiles);
        take(s.starts, entries + 1);
        take(s.sums, most_threads);
        take(s.counters,
             std::int64_t{sort_team(most_sorters, frontier_nonzeros)} << most_digit_bits);
        s.bytes = used;
        return s;
    }
};

} // namespace krylith::host
