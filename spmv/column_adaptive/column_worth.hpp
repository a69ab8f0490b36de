// Decides when it pays to multiply only the columns where x has entries, with sums by sorting,
// instead of all rows of a block.
#pragma once

#include <cstdint>

#include <krylith/device/device.hpp>

namespace krylith {

/// The cost of a product of all rows.
struct row_product {
    std::int64_t rows;
    std::int64_t matrix_bytes; ///< bytes that it reads of the matrix
    std::int64_t entry_bytes;  ///< bytes of a value and a column
};

/// Returns the most nonzeros in the columns of x's entries for which multiplying these columns is
/// faster; -1 for a block where no x is worth it. It compares times, counted in entries that a
/// product of all rows reads. It is a function of its arguments alone, so that results repeat.
///
/// Sources: on an H200 in fp64 listing x, sorting and waits of the host take 190 us, or 64 million
/// entries; a nonzero of the columns takes 40, and a row 2, to put y together. On a core of a CPU
/// it is 16 a nonzero and 2 a row.
[[nodiscard]] std::int64_t most_column_nonzeros(backend kind, const row_product& all) noexcept;

/// Makes columns of small matrices pay in tests: while an object lives, in the whole process, up to
/// a quarter of the entries.
class mocked_column_worth {
public:
    mocked_column_worth() noexcept;
    ~mocked_column_worth();
    mocked_column_worth(const mocked_column_worth&) = delete;
    mocked_column_worth& operator=(const mocked_column_worth&) = delete;
};

} // namespace krylith
