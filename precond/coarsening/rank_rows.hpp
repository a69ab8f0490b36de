// The rows of one rank and the couplings of their entries, as steps of aggregation take them.
#pragma once

#include <cstdint>

#include <krylith/device/kernel/annotations.hpp>
#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/precond/coarsening/aggregate_keys.hpp>

namespace krylith::aggregation {

/// The first of entries [begin, end), which ascend, that is at least `column`; `end` if none is.
[[nodiscard]] KRYLITH_HD inline std::int64_t
place_of(const std::int32_t* indices, std::int64_t begin, std::int64_t end, std::int32_t column) {
    while (begin < end) {
        const std::int64_t middle = (begin + end) / 2;
        if (indices[middle] < column)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/// A row i of the rank has the local column own(i).
struct rank_rows {
    /// Entries of a lane that are loaded at once: most rows have no more, and a loop whose trips
    /// are so few would wait for each.
    static constexpr int flight = 4;

    std::int64_t rows = 0;
    const std::int64_t* offsets = nullptr;   ///< [rows + 1]
    const std::int32_t* indices = nullptr;   ///< [nonzeros] local columns
    const std::uint8_t* couplings = nullptr; ///< [nonzeros] 0: weak, or the diagonal; or
                                             ///< large_in_row
    column_numbers columns = {};

    [[nodiscard]] KRYLITH_HD std::int32_t own(std::int64_t row) const {
        return static_cast<std::int32_t>(row) + columns.below;
    }

    /// Calls body(local column, coupling) for every `lanes`-th strong entry, from `lane` on.
    /// `Ahead` are loaded at once on GPUs; processors look ahead by themselves.
    template <int Ahead = flight, class Body>
    KRYLITH_HD void each_strong(std::int64_t row, int lane, int lanes, const Body& body) const {
        const std::int64_t end = offsets[row + 1];
#ifndef __CUDA_ARCH__
        for (std::int64_t k = offsets[row] + lane; k < end; k += lanes)
            if (is_strong(couplings[k])) body(indices[k], couplings[k]);
#else
        for (std::int64_t k = offsets[row] + lane; k < end; k += Ahead * lanes) {
            std::uint8_t coupling[Ahead];
            std::int32_t column[Ahead];
            for (int i = 0; i < Ahead; ++i) {
                const bool there = k + i * lanes < end;
                coupling[i] = there ? couplings[k + i * lanes] : std::uint8_t{0};
                column[i] = there ? indices[k + i * lanes] : 0;
            }
            for (int i = 0; i < Ahead; ++i)
                if (is_strong(coupling[i])) body(column[i], coupling[i]);
        }
#endif
    }

    /// The largest of `most` and the numbers of strong neighbours. Numbers of weak ones are loaded
    /// too, and nothing branches: no load waits for another but for that of the column.
    [[nodiscard]] KRYLITH_HD std::uint32_t largest_of(const std::uint32_t* numbers,
                                                      std::int64_t row, int lane, int lanes,
                                                      std::uint32_t most) const {
        const std::int64_t end = offsets[row + 1];
#ifndef __CUDA_ARCH__
        for (std::int64_t k = offsets[row] + lane; k < end; k += lanes) {
            const std::uint32_t number =
                numbers[indices[k]] & (0u - std::uint32_t{is_strong(couplings[k])});
            most = number > most ? number : most;
        }
#else
        for (std::int64_t k = offsets[row] + lane; k < end; k += flight * lanes) {
            std::uint32_t counted[flight];
            for (int i = 0; i < flight; ++i) {
                const std::int64_t at = k + i * lanes < end ? k + i * lanes : k;
                const std::uint32_t number = numbers[indices[at]];
                counted[i] = number & (0u - std::uint32_t{is_strong(couplings[at])});
            }
            for (int i = 0; i < flight; ++i) most = counted[i] > most ? counted[i] : most;
        }
#endif
        return most;
    }
};

} // namespace krylith::aggregation
