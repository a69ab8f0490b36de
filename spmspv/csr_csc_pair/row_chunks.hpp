// Words of 32 rows that have many entries, cut into chunks that warps take like whole words, so
// that no length of a row stalls a warp. The warp that ends the last chunk of a word adds up the
// sums of its chunks, in their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::spmspv {

/// The number of entries of a word that one warp takes: longer words are cut. A warp of balanced
/// kernels reads about 6000 of a matrix of 32 million on an H200.
inline constexpr std::uint32_t whole_word_entries = 1024;

/// The number of entries of a chunk of a word with `entries` entries, more than whole_word_entries;
/// the last chunk may have fewer. A word has at most 1024 chunks, since one warp adds them up.
[[nodiscard]] KRYLITH_HD constexpr std::uint32_t chunk_entries(std::uint32_t entries) {
    const std::uint32_t least = (entries / 1024 + 256) / 256 * 256;
    return least > whole_word_entries ? least : whole_word_entries;
}

/// One chunk; plain data.
struct row_chunk {
    std::int32_t word;
    std::int32_t part; ///< its number among those of its word, which are consecutive
    std::int32_t parts;
};

/// Returns the chunks of all long words, in the order of words, from the offsets of rows [rows +
/// 1]. O(rows / 32 + chunks); at most nnz / 512 chunks.
[[nodiscard]] std::vector<row_chunk> cut_long_words(std::span<const std::int32_t> offsets);

/// The chunks on a device. Arrays are [count], sums 32 times as many. Plain data for kernels.
struct row_chunks {
    const row_chunk* list;
    void* sums; ///< sums of the rows of each chunk, values of up to 8 bytes
    std::uint32_t* marks;
    unsigned*
        arrived; ///< at the first chunk of a word: its chunks that are done; 0 between products
    std::int32_t count;
};

} // namespace krylith::spmspv
