// Copies of what the owners of columns have to the ranks where these columns are ghosts, while
// matrices are made: nothing here is for the loops of solvers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/products/local_columns.hpp>

namespace krylith {

/// The exchange of the ghosts of a set of local columns. Set-up costs O(ghosts) on the host, and
/// lists of 4 bytes a ghost on the devices. Move-only.
class column_exchange {
public:
    column_exchange() = default;
    /// `columns[rank]` are those of the rank; all their owned ranges together are a partition.
    column_exchange(const device_group& group, std::span<const local_columns> columns);

    /// arrays[rank] has columns[rank].count() values, of which the owned ones are right; the others
    /// become copies of their owners'. Enqueued on the devices: what they enqueued before comes
    /// before it, and what they enqueue after it sees all. Works on any group, without peer access
    /// by staged copies. V is uint64_t, int32_t, uint8_t, float or double.
    template <class V>
    void fill(std::span<V* const> arrays) const;

    /// For each rank and each of its ghosts in order: the owner.
    // (private members are the implementer's)
};

} // namespace krylith
