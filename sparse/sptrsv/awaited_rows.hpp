// The few rows that each row of a triangle really waits for.
//
// Rows of a chain (chain_starts.hpp) wait for each other already. So of neighbouring columns that
// lie in one chain only the last counts, and the row before counts only where a chain begins: 2 of
// the 3 strict entries of 7-point stencils are left, 4 of the 13 of 27-point ones.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/sptrsv/triangle_source.hpp>

namespace krylith::cuda {

/// Rows; -1 where there are fewer.
struct alignas(16) awaited_rows {
    static constexpr int most = 4;
    std::int32_t rows[most];
};

/// Fills in `awaited` by place, in natural order of solving, and `lengths`, the strict entries by
/// row. `starts` says by place where chains begin. *crowded becomes 1 where a row waits for more
/// than awaited_rows::most or is longer than 48 entries; the results are then of no use.
template <class T>
void find_awaited_rows(device& device, const triangle_source<T>& a, const std::uint8_t* starts,
                       awaited_rows* awaited, std::int32_t* lengths, unsigned* crowded);

/// Levels + 1 by row, 0 before, from awaited rows. Chain i has places [starts[i], starts[i + 1]).
/// `ticket` and `highest` are 0 before; the latter becomes the highest level + 1.
void sweep_awaited(device& device, std::int64_t rows, bool upper, const awaited_rows* awaited,
                   const std::int32_t* starts, std::int64_t chains, std::int32_t* levels,
                   unsigned* ticket, int* highest);

} // namespace krylith::cuda
