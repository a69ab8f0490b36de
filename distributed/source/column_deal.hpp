// The entries of a matrix dealt out by columns (pCSC), on the devices where they lie: the cut that
// assign_by_columns() makes of a pattern in host memory. A rank gets equally many entries whatever
// the columns are, since a column may be cut; of one that is, lower ranks hold the earlier entries
// in the order of the matrix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/resident_columns.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// The pattern of the entries that a rank holds, on its device: all rows of the matrix, in each of
/// them its entries in the order of the matrix.
struct dealt_rows {
    buffer<std::int64_t> offsets; ///< [rows of the matrix + 1] from 0
    buffer<std::int32_t> columns; ///< [nonzeros()], global

    [[nodiscard]] std::int64_t nonzeros() const noexcept {
        return static_cast<std::int64_t>(columns.size());
    }
};

/// Where the entries of a rank's own rows go. Those of holder 0 come first; those of one holder
/// are in the order of the matrix, and so travel in one piece.
struct dealt_order {
    buffer<std::int32_t> order;         ///< [entries] their numbers in CSR, on the device
    std::vector<std::int64_t> begin{0}; ///< [ranks + 1] where the pieces of holders begin in it

    /// The number of entries that `holder` gets.
    [[nodiscard]] std::int64_t piece(int holder) const {
        const auto at = static_cast<std::size_t>(holder);
        return begin[at + 1] - begin[at];
    }
};

struct column_deal {
    row_partition columns;          ///< who owns which columns
    std::vector<dealt_rows> held;   ///< [ranks]
    std::vector<dealt_order> given; ///< [ranks]
};

/// Deals out the entries of a valid matrix of `columns` columns, of which parts[rank] are the rows
/// that `rows` gives to the rank, below 2^31 entries each. A rank then holds the pieces of all
/// ranks, one behind the other.
///
/// The host learns only where cuts are and how large pieces: it waits for rank 0 once, then for all
/// ranks once. The rest is enqueued, behind what the devices have been given before. Meanwhile each
/// device needs 4 bytes a column, the first one 4 more for each other rank and 8; and 12 bytes an
/// entry and 4 a row for each rank, beside the result, which has 4 an entry for the order of
/// values. Throws usage_error if the parts are not those of the group and of `rows`.
[[nodiscard]] column_deal deal_columns(const communicator& comm, const row_partition& rows,
                                       std::span<const resident_csr> parts, std::int64_t columns);

/// Enqueues the way of values: values[rank] has those of the rank's own rows in CSR order, to[rank]
/// gets those of the entries that it holds, in their order there. It comes after what the devices
/// have been given before, and each device's later work after it. Takes memory for the values that
/// leave a rank, for the time of the work. Throws usage_error for another number of ranks.
template <class T>
void deal_values(const communicator& comm, std::span<const dealt_order> given,
                 std::span<const T* const> values, std::span<T* const> to);

} // namespace krylith
