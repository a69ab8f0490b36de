// Which format format_kind::automatic is on CUDA devices, from the lengths of rows alone.
#pragma once

#include <cstdint>
#include <span>

#include <krylith/sparse/format.hpp>

namespace krylith {

/// What becomes of the results of a device's block.
enum class result_use {
    own,     ///< only this device has them, or they are copied when all are there
    sent,    ///< they are stored into other devices' memory as they are computed
    repeated ///< so, and others compute some of the rows too: these must have the same bits there
};

/// Never cusparse. O(rows log 1024).
///
/// - merge where csr is uneven: rows that exceed a tile of csr have a tenth of the nonzeros, or one
///   row has more than 1 / 132 of them (a multiprocessor's share on an H200). Of at least a million
///   nonzeros, and not for repeated rows: there a row's rounding depends on its place.
/// - sell up to 10% padding: above, the bytes saved by unit stride are lost again.
/// - But csr where SELL has to sort the rows and they are sent (single words leave the device, not
///   whole lines), or have 4 nonzeros or more in the mean, which fill csr's tiles.
///
/// Measured on H200s, fp64 (docs/benchmarks.md, "Products on one GPU").
[[nodiscard]] format_kind choose_format(std::span<const std::int64_t> offsets, result_use use);

} // namespace krylith
