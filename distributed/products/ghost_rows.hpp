// Rows of a matrix that other ranks own, fetched for the ghosts of local columns: the one place
// where products get rows from elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/ghost_messages.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// What is fetched for matrices of one pattern. On each rank, the rows of its local columns, ghosts
/// and owned ones, lie in one matrix, in the order of columns. 20 bytes a ghost where its packer
/// is. Move-only.
class ghost_rows {
public:
    ghost_rows() = default;
    /// `columns[rank]` are the local columns of each rank, offsets[rank] the offsets of the rows
    /// that it owns. Waits for the devices. Collective, as fetch().
    ghost_rows(const communicator& comm, std::span<const local_columns> columns,
               std::span<const std::int64_t* const> offsets);

    /// The offsets of the rows of all local columns of a rank; they are handed over.
    [[nodiscard]] buffer<std::int64_t> take_offsets(int rank);
    /// The entries of these rows.
    [[nodiscard]] std::int64_t entries(int rank) const { return size_.at(as_size(rank)); }

    /// Fills to[rank], an array of entries(rank): the entries of rows that the rank owns are copied
    /// from from[rank], those of the others from their owners'. Enqueued; what devices enqueued
    /// before comes before it, and what they enqueue after it sees all. V is int32_t, float or
    /// double.
    template <class V>
    void fetch(std::span<const V* const> from, std::span<V* const> to) const;

    /// The bytes that it keeps on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const noexcept;

private:
    struct rows_message {
        ghost_message ghosts;
        std::int64_t entries = 0;
        std::int64_t position = 0;   ///< of the first at the receiver
        buffer<std::int64_t> packed; ///< [count + 1] offsets, from 0, on the device of the packer
        buffer<std::int64_t> jump;   ///< [count] from packed entries to the owner's
    };

    static std::size_t as_size(int rank) { return static_cast<std::size_t>(rank); }
    void measure(std::span<const std::int64_t* const> offsets);
    [[nodiscard]] std::vector<buffer<std::int64_t>> forward_offsets() const;
    void place(std::span<const local_columns> columns,
               std::span<const std::int64_t* const> offsets);

    std::shared_ptr<const communicator> comm_; ///< null: empty
    std::vector<rows_message> messages_;
    std::vector<buffer<std::int64_t>> offsets_;
    std::vector<std::int64_t> size_;  ///< entries, by rank
    std::vector<std::int64_t> owned_; ///< entries of owned rows, by rank
    std::vector<std::int64_t> own_position_;
};

} // namespace krylith
