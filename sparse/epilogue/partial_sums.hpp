// What peers have computed of this device's rows, because they hold some of their entries
// (nonzero_split_operator.hpp): added to a row's own sum by the kernel that computes the row.
#pragma once

#include <bit>
#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/vector/scalar/kernel_context.hpp>

namespace krylith {

/// Which of 32 rows have partial sums, and how many rows before these do: 1/4 byte a row.
struct row_marks {
    std::uint32_t rows = 0; ///< bit set
    std::int32_t before = 0;
};

/// Plain data for kernels. Rows that have any are numbered; number m has slots[place[k]] for k from
/// first[m] to first[m + 1], which are added in this order: that of ranks. Peers may overwrite
/// slots with result number e + 1 once they have been told that e is added up.
template <class T>
struct partial_sums {
    const row_marks* marks;    ///< [rows / 32], null: no row has any
    const std::int32_t* first; ///< [rows that have any + 1]
    const std::int32_t* place; ///< in slots
    const T* slots;            ///< written by the peers; a peer's lie together
    signal arrived;            ///< before the first row that has any
    std::uint64_t* const*
        peer_credits;    ///< [ranks] this rank's word in each peer's result_put::ready
    std::uint64_t* next; ///< arrived.expected: the result that comes next, from 1

    /// Numbers of rows below `row` that have any; row < 32 * marks.
    [[nodiscard]] KRYLITH_HD std::int32_t number_of(std::int64_t row) const {
        const row_marks m = marks[row / 32];
        const std::uint32_t lower = m.rows & ((1u << (row % 32)) - 1);
#ifdef __CUDA_ARCH__
        return m.before + __popc(lower);
#else
        return m.before + std::popcount(lower);
#endif
    }

    /// `sum` and those of the peers.
    [[nodiscard]] KRYLITH_HD T add_to(T sum, std::int64_t row) const {
        if ((marks[row / 32].rows >> (row % 32) & 1) == 0) return sum;
        const std::int32_t m = number_of(row);
        for (std::int32_t k = first[m]; k < first[m + 1]; ++k) sum += slots[place[k]];
        return sum;
    }
};

} // namespace krylith
