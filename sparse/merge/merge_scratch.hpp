// The memory on the device that products by merge path keep besides the matrix.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <krylith/sparse/merge/merge_path.hpp>

namespace krylith {

/// The sums that chunks of the path leave for the block that ends the product. [chunks] each.
template <class T>
struct chunk_edges {
    T* heads;           ///< the sum in the chunk of the row that it ends and that began before it
    T* carries;         ///< the sum of the row that is open at its end
    std::int32_t* rows; ///< that row, or one of the two numbers below
};

inline constexpr std::int32_t began_here = -1; ///< the first row that ends in the chunk began there
inline constexpr std::int32_t none_ended = -2; ///< the chunk lies in one row, which goes on

/// The scratch as parts of one allocation. Plain data for kernels.
template <class T>
struct merge_scratch {
    unsigned* finished; ///< blocks that are done; 0 between products
    chunk_edges<T> edges;
    std::int32_t* tile_rows; ///< [tiles + 1] rows that end before the tile

    /// The bytes for any number of teams.
    static std::size_t bytes(std::int64_t rows, std::int64_t nonzeros) {
        return first + most_chunks(rows, nonzeros) * (2 * sizeof(T) + sizeof(std::int32_t)) +
               (tiles(rows, nonzeros) + 1) * sizeof(std::int32_t);
    }

    [[nodiscard]] static merge_scratch in(void* memory, std::int64_t rows, std::int64_t nonzeros) {
        auto* const start = static_cast<std::byte*>(memory);
        const std::size_t chunks = most_chunks(rows, nonzeros);
        auto* const heads = reinterpret_cast<T*>(start + first);
        auto* const numbers = reinterpret_cast<std::int32_t*>(heads + 2 * chunks);
        return {
            reinterpret_cast<unsigned*>(start), {heads, heads + chunks, numbers}, numbers + chunks};
    }

private:
    static constexpr std::size_t first = 16; // `finished`, and alignment

    static std::size_t tiles(std::int64_t rows, std::int64_t nonzeros) {
        return static_cast<std::size_t>(divide_merge_path(rows, nonzeros, 1).tiles);
    }
    static std::size_t most_chunks(std::int64_t rows, std::int64_t nonzeros) {
        return std::min<std::size_t>(tiles(rows, nonzeros), most_merge_chunks);
    }
};

} // namespace krylith
