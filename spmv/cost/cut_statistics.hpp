// What devices hold and exchange where a matrix is cut into equally many entries within rows (pCSR,
// operator pcsr), for predictions.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/spmv/cost_model.hpp>

namespace krylith {

/// Where rows can be divided so that no device has more than this times the mean of the nonzeros,
/// devices of a cut have about the same rows, and so the same ghosts, as without it.
inline constexpr double even_enough = 1.1;

/// Counts what devices hold by arithmetic, from the parts of `whole`, whose rows are not cut. Where
/// these are uneven their ghosts say nothing of a cut, and those of the cut are counted: one pass
/// over the nonzeros, by one thread, with n bytes. Else O(devices log rows), and the ghosts are
/// those of `whole`. `row_offsets` must begin at 0.
[[nodiscard]] cut_statistics measure_cut(const pattern_statistics& whole,
                                         std::span<const std::int64_t> row_offsets,
                                         std::span<const std::int32_t> column_indices,
                                         const longest_row& longest);

} // namespace krylith
