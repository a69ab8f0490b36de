// What the lengths of rows say of a block: all that the choice of a format needs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <krylith/device/device.hpp>
#include <krylith/matrix/types/longest_row.hpp>

namespace krylith {

struct block_lengths {
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;
    longest_row longest = {};       ///< the row is counted in the block
    std::int64_t in_long_rows = 0;  ///< nonzeros of rows that a tile of CSR can't hold
    std::int64_t slice_columns = 0; ///< of SELL (sell_view.hpp)
    bool sorted = false;            ///< whether SELL sorts the rows (make_sell_layout())

    friend bool operator==(const block_lengths&, const block_lengths&) = default;
};

/// Measures rows by their offsets (rows + 1, the first need not be 0). O(rows log 1024), with
/// OpenMP.
[[nodiscard]] block_lengths measure_lengths(std::span<const std::int64_t> offsets);

namespace cuda {

/// The lengths, and whether any offset is below the one before it; then nothing else is of use.
struct length_check {
    block_lengths lengths;
    bool descends = false;
};

/// Measures the same by offsets on the device, the first of which is 0. Offsets may be anything.
/// Reads 8 bytes a row, twice where rows are sorted, and waits for the device.
[[nodiscard]] length_check measure_lengths(const std::shared_ptr<device>& device,
                                           const std::int64_t* offsets, std::int64_t rows);

/// Enqueues the order of rows of a block of SELL that sorts them: order[place] for whole slices of
/// places is the row there, or -1. It equals sell_layout::rows.
void order_rows(device& device, const std::int64_t* offsets, std::int64_t rows,
                std::int32_t* order);

} // namespace cuda

} // namespace krylith
