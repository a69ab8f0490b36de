// Rows of a transposed matrix from all ranks that have pieces of them.
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

/// How the transposed blocks of ranks become the rows of A^T that each rank owns. The rows of a
/// block's transposed are the local columns of A: those that another rank owns are neighbours, so
/// their entries travel in one piece. A row of A^T has the entries of rank 0, then those of rank
/// 1, ...: rows of A in ascending order. Move-only.
class transposed_pieces {
public:
    transposed_pieces() = default;
    /// `columns[rank]` are the local columns of A, offsets[rank] those of the rank's transposed
    /// block, [columns[rank].count() + 1]. Waits for the devices. Collective, as join().
    transposed_pieces(const communicator& comm, std::span<const local_columns> columns,
                      std::span<const std::int64_t* const> offsets);

    /// The offsets of the rows of A^T of a rank; they are handed over.
    [[nodiscard]] buffer<std::int64_t> take_offsets(int rank);
    /// The entries of these rows.
    [[nodiscard]] std::int64_t entries(int rank) const { return size_.at(as_size(rank)); }

    /// Fills to[rank], an array of entries(rank), from arrays of the entries of the transposed
    /// blocks. Enqueued. V is int32_t, float or double.
    template <class V>
    void join(std::span<const V* const> from, std::span<V* const> to) const;

    /// The bytes that it keeps on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const noexcept;

private:
    /// Rows of the transposed block of the rank `receiver` of these ghosts, for their owner.
    struct piece {
        ghost_message ghosts;
        std::int64_t begin = 0; ///< entries of the transposed block
        std::int64_t end = 0;
        buffer<std::int64_t> packed; ///< [count + 1] offsets, from 0, at the owner
        buffer<std::int64_t> jump;   ///< [count] from entries of the piece to those of A^T
    };
    /// Rows of a rank's transposed block that it owns itself.
    struct own_rows {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        buffer<std::int64_t> packed; ///< [rows + 1] offsets in the transposed block
        buffer<std::int64_t> jump;   ///< [rows]
    };

    static std::size_t as_size(int rank) { return static_cast<std::size_t>(rank); }
    void bring_offsets(std::span<const local_columns> columns,
                       std::span<const std::int64_t* const> offsets);
    void place(std::span<const local_columns> columns);

    std::shared_ptr<const communicator> comm_; ///< null: empty
    std::vector<piece> pieces_;                ///< ordered by where they come from
    std::vector<own_rows> own_;
    std::vector<buffer<std::int64_t>> offsets_;
    std::vector<std::int64_t> size_; ///< entries, by rank
};

} // namespace krylith
