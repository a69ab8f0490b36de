// Rows of a matrix that other ranks own, fetched for the ghosts of local columns: the one place
// where products get rows from elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/distributed/products/shared_rows.hpp>

namespace krylith {

/// What is fetched for matrices of one pattern. On each rank, the rows of its local columns, ghosts
/// and owned ones, lie in one matrix, in the order of columns. Move-only.
class ghost_rows : public shared_rows {
public:
    ghost_rows() = default;
    /// `columns[rank]` are the local columns of each rank, offsets[rank] the offsets of the rows
    /// that it owns. Waits for the devices. Collective, as fetch().
    ghost_rows(const communicator& comm, std::span<const local_columns> columns,
               std::span<const std::int64_t* const> offsets);

    /// Fills to[rank], an array of entries(rank): the entries of rows that the rank owns are copied
    /// from from[rank], those of the others from their owners'. Enqueued; what devices enqueued
    /// before comes before it, and what they enqueue after it sees all. V is int32_t, float or
    /// double.
    template <class V>
    void fetch(const std::vector<const V*>& from, const std::vector<V*>& to) const;

    /// The bytes that it keeps on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const noexcept { return bytes_of_rows(rank); }

private:
    [[nodiscard]] std::vector<std::int64_t> pack(std::span<const local_columns> columns,
                                                 std::span<const std::int64_t* const> offsets);
    void place(std::span<const local_columns> columns, const std::vector<std::int64_t>& sizes);
    void bring_offsets(std::span<const local_columns> columns,
                       std::span<const std::int64_t* const> offsets);

    std::vector<row_range> own_; ///< entries of owned rows in the whole, by rank
};

} // namespace krylith
