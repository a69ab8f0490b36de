// When it pays to multiply only the columns where x has entries, with sums by sorting, instead of
// all rows of a block.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith {

/// A product of all rows.
struct row_product {
    std::int64_t rows;
    std::int64_t matrix_bytes; ///< that it reads
    std::int64_t entry_bytes;  ///< a value and a column
};

/// The most nonzeros that the columns of x's entries may have for them to be the faster way, by
/// their time in entries that a product of all rows reads; -1 for a block where no x is worth it. A
/// function of its arguments alone, so that results repeat.
///
/// On an H200, fp64: 190 us for looking at x, sorting, and waits of the host, or 64 million
/// entries; 40 a nonzero of the columns; 2 a row, to put y together. On a core of a CPU 16 a
/// nonzero and 2 a row.
[[nodiscard]] std::int64_t most_column_nonzeros(backend kind, const row_product& all) noexcept;

/// Lets a test multiply columns of small matrices: as long as it lives they pay, in the whole
/// process, with up to a quarter of the entries.
class mocked_column_worth {
public:
    mocked_column_worth() noexcept;
    ~mocked_column_worth();
    mocked_column_worth(const mocked_column_worth&) = delete;
    mocked_column_worth& operator=(const mocked_column_worth&) = delete;
};

} // namespace krylith
