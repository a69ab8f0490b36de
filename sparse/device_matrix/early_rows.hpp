// Rows that other devices own and of which this one has few entries (nonzero_split_operator.hpp):
// on CUDA devices the product of the own rows computes them at its start, beside these, so that
// they take no kernel of their own.
#pragma once

#include <cstdint>

#include <krylith/comm/channel/channel_view.hpp>
#include <krylith/sparse/device_matrix/compressed_rows.hpp>

namespace krylith {

/// The most entries of all early rows: a warp multiplies them. They are less than a tile of csr.
inline constexpr std::int64_t most_early_entries = 512;

/// Plain data for kernels. Row i times x is stored into *targets[i], in memory of its owner.
template <class T>
struct early_rows {
    compressed_rows<T> matrix;
    std::int32_t count; ///< rows; 0: none
    T* const* targets;  ///< [count]
    put_signal ghosts;  ///< awaited first, where a row reads ghosts
    /// Told when they are stored. The reader of the results gives credit (partial_sums).
    channel_view channel;
};

} // namespace krylith
