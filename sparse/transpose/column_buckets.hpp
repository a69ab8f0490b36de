// How columns are cut into buckets where a matrix has few enough of them for one pass.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace krylith {

/// A bucket is 2^bits columns. Blocks of threads put `block_entries` nonzeros each into buckets;
/// then a block a bucket sorts it in shared memory.
struct column_buckets {
    int bits = 0;
    std::int32_t buckets = 0;
    std::int32_t blocks = 0;

    static constexpr int most_buckets = 1024;
    static constexpr int most_bits = 12;
    static constexpr int block_entries = 8192;
    static constexpr int capacity = 32768; ///< entries of a bucket
    /// Entries of an average bucket: others may have twice as many.
    static constexpr std::int64_t usual_entries = 14000;

    [[nodiscard]] constexpr std::int64_t columns() const noexcept {
        return std::int64_t{1} << bits;
    }
    /// One for each block and bucket.
    [[nodiscard]] constexpr std::int64_t counts() const noexcept {
        return std::int64_t{buckets} * blocks;
    }
    [[nodiscard]] constexpr bool possible() const noexcept { return buckets > 0; }
};

/// Returns no buckets where one pass is not enough.
[[nodiscard]] inline column_buckets make_column_buckets(std::int64_t columns,
                                                        std::int64_t nonzeros) {
    column_buckets b;
    constexpr std::int64_t most = column_buckets::most_buckets;
    if (columns == 0 || nonzeros == 0 || nonzeros > most * column_buckets::usual_entries) return b;
    const auto least = static_cast<std::uint64_t>((columns - 1) / most + 1);
    b.bits = std::bit_width(least - 1);
    if (b.bits > column_buckets::most_bits) return {};
    b.buckets = static_cast<std::int32_t>(((columns - 1) >> b.bits) + 1);
    b.blocks = static_cast<std::int32_t>((nonzeros - 1) / column_buckets::block_entries + 1);
    return b;
}

} // namespace krylith
