// The rows of one rank and the couplings of their entries, as steps of aggregation take them.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/spmv/source/local_columns.hpp>

namespace krylith::aggregation {

/// A row i of the rank has the local column own(i).
struct rank_rows {
    std::int64_t rows = 0;
    const std::int64_t* offsets = nullptr;   ///< [rows + 1]
    const std::int32_t* indices = nullptr;   ///< [nonzeros] local columns
    const std::uint8_t* couplings = nullptr; ///< [nonzeros] 0: weak, or the diagonal
    column_numbers columns = {};

    [[nodiscard]] KRYLITH_HD std::int32_t own(std::int64_t row) const {
        return static_cast<std::int32_t>(row) + columns.below;
    }

    /// Calls body(local column, coupling) for every `lanes`-th strong entry, from `lane` on.
    template <class Body>
    KRYLITH_HD void each_strong(std::int64_t row, int lane, int lanes, const Body& body) const {
        const std::int64_t end = offsets[row + 1];
        for (std::int64_t k = offsets[row] + lane; k < end; k += lanes) {
            const std::uint8_t coupling = couplings[k];
            if (coupling != 0) body(indices[k], coupling);
        }
    }

    /// The largest of `most` and the numbers of strong neighbours. Numbers of weak ones are loaded
    /// too, and nothing branches: no load waits for another but for that of the column.
    [[nodiscard]] KRYLITH_HD std::uint32_t largest_of(const std::uint32_t* numbers,
                                                      std::int64_t row, int lane, int lanes,
                                                      std::uint32_t most) const {
        const std::int64_t end = offsets[row + 1];
        for (std::int64_t k = offsets[row] + lane; k < end; k += lanes) {
            const std::uint32_t number = numbers[indices[k]];
            const std::uint32_t counted = number & (0u - std::uint32_t{couplings[k] != 0});
            most = counted > most ? counted : most;
        }
        return most;
    }
};

} // namespace krylith::aggregation
