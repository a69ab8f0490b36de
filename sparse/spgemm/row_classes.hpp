// How rows of a product are divided among kernels.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

/// The kernels of the symbolic phase, by the products of a row.
enum class count_class : int { none, short_32, short_64, hashed, wide, number };

/// The kernels of the numeric phase. The first four hold the row of C in shared memory, and know
/// the place of each product; the last finds places by binary search.
enum class sum_class : int { places_32, places_64, places_128, places_256, searched, none, number };

inline constexpr std::int64_t most_hashed_products = 1024;
inline constexpr std::int64_t most_placed_results = 256; ///< a place has 8 bits
inline constexpr int search_chunk = 512;                 ///< entries of C that a warp adds up

[[nodiscard]] KRYLITH_HD inline count_class class_of_products(std::uint32_t products) {
    if (products == 0) return count_class::none;
    if (products <= 32) return count_class::short_32;
    if (products <= 64) return count_class::short_64;
    return products <= most_hashed_products ? count_class::hashed : count_class::wide;
}

/// `products` are those of the row, `results` its nonzeros in C.
[[nodiscard]] KRYLITH_HD inline sum_class
class_of_results(std::uint32_t products, std::int32_t results, bool keeps_places) {
    if (results == 0) return sum_class::none;
    if (!keeps_places || products > most_hashed_products || results > most_placed_results)
        return sum_class::searched;
    if (results <= 32) return sum_class::places_32;
    if (results <= 64) return sum_class::places_64;
    return results <= 128 ? sum_class::places_128 : sum_class::places_256;
}

/// The most results of a class with places.
[[nodiscard]] constexpr int room_of(sum_class which) noexcept {
    return 32 << static_cast<int>(which);
}

} // namespace krylith
