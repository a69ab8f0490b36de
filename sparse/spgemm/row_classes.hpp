// How rows of a product are divided among kernels.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/sparse/spgemm/row_limits.hpp>

namespace krylith {

/// The kernels of the symbolic phase, by the products of a row.
enum class count_class : int { none, merged, short_64, hashed, wide, giant, number };

/// The kernels of the numeric phase. The first five hold the row of C in shared memory, and know
/// the place of each product; `lane` has a thread a row. `searched` finds places by binary search,
/// and so does `giant_searched`, of whose rows the whole GPU finds the columns. `giant_sorted`
/// sorts products. `together` are added up eight at a time, by the records of these.
enum class sum_class : int {
    places_32,
    places_64,
    places_128,
    places_192,
    lane,
    searched,
    giant_searched,
    giant_sorted,
    none,
    together,
    number
};

inline constexpr int most_merged_entries = 8; ///< of a row of A
inline constexpr int most_merged_products = 64;
inline constexpr int most_lane_results = 16; ///< of a row that a thread adds up
inline constexpr int most_hashed_products = 1024;
/// The most products of a row that know their places: only where class_rules::hash_many.
inline constexpr int most_placed_products = 4095;
inline constexpr int most_placed_results = 192;         ///< what hash tables have room for
inline constexpr int search_chunk = row_limits{}.chunk; ///< the most entries of a chunk

/// The columns that a block can have a bit for in shared memory: a range.
inline constexpr std::int64_t most_range_columns = std::int64_t{1} << 19;

/// What the class of a row depends on beside the row.
struct class_rules {
    row_limits limits;
    std::int64_t columns; ///< of C
    /// Whether rows of more than most_hashed_products are hashed, too: most have few results.
    bool hash_many = false;

    /// `entries` are those of the row of A, `products` at most 2^32 - 1.
    [[nodiscard]] KRYLITH_HD count_class of_products(std::uint32_t products,
                                                     std::int64_t entries) const {
        if (products == 0) return count_class::none;
        if (products <= most_merged_products && entries <= most_merged_entries)
            return count_class::merged;
        if (products <= 64) return count_class::short_64;
        if (products <= most_hashed_products) return count_class::hashed;
        if (is_giant(products, entries)) return count_class::giant;
        return hash_many && products <= most_placed_products ? count_class::hashed
                                                             : count_class::wide;
    }

    /// Whether `hash_many` makes a row hashed that would be wide.
    [[nodiscard]] KRYLITH_HD bool of_many(std::uint32_t products, std::int64_t entries) const {
        return products > most_hashed_products && products <= most_placed_products &&
               !is_giant(products, entries);
    }

    /// Whether the products of a row may know their places.
    [[nodiscard]] KRYLITH_HD bool may_be_placed(std::uint32_t products,
                                                std::int64_t entries) const {
        return products <= most_hashed_products || (hash_many && of_many(products, entries));
    }

    /// `results` are the nonzeros of the row of C.
    [[nodiscard]] KRYLITH_HD sum_class of_results(std::uint32_t products, std::int64_t entries,
                                                  std::int32_t results) const {
        if (results == 0) return sum_class::none;
        if (limits.places && products <= most_merged_products && entries <= most_merged_entries &&
            results <= most_lane_results)
            return sum_class::lane;
        if (limits.places && results <= most_placed_results && may_be_placed(products, entries))
            return results <= 32    ? sum_class::places_32
                   : results <= 64  ? sum_class::places_64
                   : results <= 128 ? sum_class::places_128
                                    : sum_class::places_192;
        const std::int64_t chunks = (std::int64_t{results} + limits.chunk - 1) / limits.chunk;
        if (entries * chunks > limits.chunk_searches && entries * chunks / 8 > products)
            return sum_class::giant_sorted;
        return of_products(products, entries) == count_class::giant ? sum_class::giant_searched
                                                                    : sum_class::searched;
    }

private:
    /// For rows of more than most_hashed_products.
    [[nodiscard]] KRYLITH_HD bool is_giant(std::uint32_t products, std::int64_t entries) const {
        const std::int64_t ranges = (columns + most_range_columns - 1) / most_range_columns;
        return products > limits.products || (ranges > 1 && entries > limits.searches / ranges);
    }
};

/// The most results of a class with places.
[[nodiscard]] constexpr int room_of(sum_class which) noexcept {
    return which == sum_class::places_192 ? 192 : 32 << static_cast<int>(which);
}

} // namespace krylith
