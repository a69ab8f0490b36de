// The pattern of coordinate entries that lie on a CUDA device, sorted there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// What coo_assembly has of the entries of a device's rows, in its memory. Rows are counted from
/// the device's first.
struct device_assembly {
    buffer<std::int32_t> order;   ///< [entries that are not left out]
    buffer<std::int32_t> first;   ///< [nonzeros + 1]; empty if no two entries are at the same place
    buffer<std::int64_t> offsets; ///< [rows + 1]
    buffer<std::int32_t> columns; ///< [nonzeros]
};

namespace cuda {

/// Sorts the entries (row_indices[k], column_indices[k]) of these rows. Nothing where one is of
/// another row, or of a column that is not below `columns`; entries with a negative index are left
/// out. Takes up to 36 bytes an entry for the time of the sort. Waits for the device.
[[nodiscard]] std::optional<device_assembly> assemble_there(const std::shared_ptr<device>& device,
                                                            const std::int32_t* row_indices,
                                                            const std::int32_t* column_indices,
                                                            std::int64_t entries, row_range rows,
                                                            std::int64_t columns);

} // namespace cuda

} // namespace krylith
