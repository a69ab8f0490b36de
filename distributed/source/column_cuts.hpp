// Where a deal of entries by columns cuts a matrix that lies on several devices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/resident_columns.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

struct column_cuts {
    row_partition columns; ///< who owns which
    /// [ranks][holders + 1] on each rank's device: holder h gets the entries of the rank from
    /// keys[h] up to keys[h + 1], by their entry_key().
    std::vector<buffer<std::int64_t>> keys;
};

/// Finds the cuts of pCSC, the ranks being its parts. Waits for rank 0, which counts the entries of
/// columns; the rest is enqueued.
[[nodiscard]] column_cuts find_column_cuts(const communicator& comm,
                                           std::span<const resident_csr> parts,
                                           std::int64_t columns);

} // namespace krylith
