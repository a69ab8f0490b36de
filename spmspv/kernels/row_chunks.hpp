// Words of 32 rows that have many entries, cut into pieces that warps take like whole words: so no
// length of a row stalls one. What the pieces of a word add up to is put together, in their order,
// by the warp that ends the last of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith::spmspv {

/// Entries of a word that one warp takes: more are cut. A warp of balanced kernels reads about 6000
/// of a matrix of 32 million on an H200.
inline constexpr std::uint32_t whole_word_entries = 1024;

/// Of a word with so many entries, more than whole_word_entries; the last piece may have less. At
/// most 1024 pieces, since one warp adds them up.
[[nodiscard]] KRYLITH_HD constexpr std::uint32_t chunk_entries(std::uint32_t entries) {
    const std::uint32_t least = (entries / 1024 + 256) / 256 * 256;
    return least > whole_word_entries ? least : whole_word_entries;
}

/// Plain data.
struct row_chunk {
    std::int32_t word;
    std::int32_t part; ///< of its word; the others stand beside it
    std::int32_t parts;
};

/// The pieces of all long words, in the order of words, from the rows' offsets [rows + 1]. O(rows /
/// 32 + pieces); at most nnz / 512 pieces.
[[nodiscard]] std::vector<row_chunk> cut_long_words(std::span<const std::int32_t> offsets);

/// On a device. Arrays [count], sums 32 times as many. Plain data for kernels.
struct row_chunks {
    const row_chunk* list;
    void* sums; ///< of values of up to 8 bytes: of a piece's rows
    std::uint32_t* marks;
    unsigned* arrived; ///< of a word's first piece: pieces that are done; 0 between products
    std::int32_t count;
};

} // namespace krylith::spmspv
