// Sums that peers have computed for rows of this device, because they hold some of the entries
// (nonzero_split_operator.hpp). The kernel that computes the row adds them to its own sum.
#pragma once

#include <bit>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/vector/execution/kernel_context.hpp>

namespace krylith {

/// The marks of 32 rows: which have partial sums, and how many earlier rows have; 1/4 byte a row.
struct row_marks {
    std::uint32_t rows = 0; ///< bit set
    std::int32_t before = 0;
};

/// The partial sums of a block; plain data for kernels. Rows that have any are numbered; number m
/// has slots[place[k]] for k from first[m] to first[m + 1], which are added in this order: that of
/// ranks. Peers may overwrite slots with result number e + 1 once they have credit for e, which is
/// given when e is added up.
template <class T>
struct partial_sums {
    const row_marks* marks;             ///< [rows / 32], null: no row has any
    const std::int32_t* first;          ///< [rows that have any + 1]
    const std::int32_t* place;          ///< in slots
    const T* slots;                     ///< written by the peers; those of a peer are consecutive
    put_signal arrived;                 ///< awaited before the first row that has any
    std::uint64_t* const* peer_credits; ///< [arrived.senders] this rank's count at each of them
    std::uint64_t* next;                ///< arrived.expected: the result that comes next, from 1

    /// The number of rows below `row` that have partial sums; row < 32 * marks.
    [[nodiscard]] KRYLITH_HD std::int32_t number_of(std::int64_t row) const {
        const row_marks m = marks[row / 32];
        const std::uint32_t lower = m.rows & ((1u << (row % 32)) - 1);
#ifdef __CUDA_ARCH__
        return m.before + __popc(lower);
#else
        return m.before + std::popcount(lower);
#endif
    }

    /// Returns `sum` plus the partial sums of the peers.
    [[nodiscard]] KRYLITH_HD T add_to(T sum, std::int64_t row) const {
        if ((marks[row / 32].rows >> (row % 32) & 1) == 0) return sum;
        const std::int32_t m = number_of(row);
        for (std::int32_t k = first[m]; k < first[m + 1]; ++k) sum += slots[place[k]];
        return sum;
    }
};

} // namespace krylith
