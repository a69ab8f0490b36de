// Sums that peers have computed for rows of this device, because they hold some of the entries
// (nonzero_split_operator.hpp). They are added when all rows of the device have what it holds of
// them, so that they travel meanwhile and no format knows of them.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith {

/// The most rows that one block of threads completes at the end of a product.
inline constexpr std::int32_t most_late_rows = 256;

/// The partial sums of a device; plain data for kernels. Row rows[m] has slots[place[k]] for k from
/// first[m] to first[m + 1], which are added in this order: that of ranks. Peers may overwrite
/// slots with result number e + 1 once they have credit for e, which is given when e is added up.
template <class T>
struct partial_sums {
    std::int32_t count;                 ///< rows that have any; 0: none
    std::int32_t first_row;             ///< in a product they are consecutive, from this one on
    const std::int32_t* rows;           ///< [count]
    const std::int32_t* first;          ///< [count + 1]
    const std::int32_t* place;          ///< in slots
    const T* slots;                     ///< written by the peers; those of a peer are consecutive
    put_signal arrived;                 ///< awaited before they are read
    std::uint64_t* const* peer_credits; ///< [arrived.senders] this rank's count at each of them
    std::uint64_t* next;                ///< arrived.expected: the result that comes next, from 1

    /// Whether a product completes this row at its end: until then it is left out of dot products.
    [[nodiscard]] KRYLITH_HD bool is_late(std::int64_t row) const {
        return static_cast<std::uint32_t>(row) - static_cast<std::uint32_t>(first_row) <
               static_cast<std::uint32_t>(count);
    }

    /// Returns what peers have of row rows[m].
    [[nodiscard]] KRYLITH_HD T sum(std::int32_t m) const {
        T sum = 0;
        for (std::int32_t k = first[m]; k < first[m + 1]; ++k) sum += slots[place[k]];
        return sum;
    }
};

} // namespace krylith
