// Random coordinate entries that are hard to sort.
#pragma once

#include <cstdint>

#include <krylith/matrix/coo.hpp>
#include <krylith/matrix/gallery/counter_hash.hpp>

namespace krylith::test {

/// Makes entries in any order, with duplicates (many where entries are many for the places), rows
/// of very different lengths, the upper third of the rows and the last column empty; values in [0,
/// 1).
template <class T>
coo_matrix<T> random_entries(std::int64_t rows, std::int64_t columns, std::int64_t entries,
                             std::uint64_t seed) {
    coo_matrix<T> coo{rows, columns, {}, {}, {}};
    for (std::int64_t k = 0; k < entries; ++k) {
        const auto draw = [&](std::uint64_t what) {
            return unit_interval(counter_hash(seed, static_cast<std::uint64_t>(k), what));
        };
        const double skewed = draw(0) * draw(1);
        coo.row_indices.push_back(
            static_cast<std::int32_t>((1 - skewed) * static_cast<double>(rows - 1) / 1.5 +
                                      static_cast<double>(rows - 1) / 3));
        coo.column_indices.push_back(
            static_cast<std::int32_t>(draw(2) * static_cast<double>(columns - 1)));
        coo.values.push_back(static_cast<T>(draw(3)));
    }
    return coo;
}

} // namespace krylith::test
