// Rows of a transposed matrix from all ranks that have pieces of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/distributed/products/shared_rows.hpp>

namespace krylith {

/// How the transposed blocks of ranks become the rows of A^T that each rank owns. The rows of a
/// block's transposed are the local columns of A: those that another rank owns are neighbours, so
/// their entries travel in one piece. A row of A^T has the entries of rank 0, then those of rank
/// 1, ...: rows of A in ascending order. Move-only.
class transposed_pieces : public shared_rows {
public:
    transposed_pieces() = default;
    /// `columns[rank]` are the local columns of A, offsets[rank] those of the rank's transposed
    /// block, [columns[rank].count() + 1]. Waits for the devices. Collective, as join().
    transposed_pieces(const communicator& comm, std::span<const local_columns> columns,
                      std::span<const std::int64_t* const> offsets);

    /// Fills to[rank], an array of entries(rank), from arrays of the entries of the transposed
    /// blocks. Enqueued. V is int32_t, float or double.
    template <class V>
    void join(const std::vector<const V*>& from, const std::vector<V*>& to) const;

    /// The bytes that it keeps on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const noexcept;

private:
    /// Rows of a rank's transposed block that it owns itself.
    struct own_rows {
        row_range entries;           ///< of the transposed block
        buffer<std::int64_t> packed; ///< [rows + 1] offsets in the transposed block
        buffer<std::int64_t> jump;   ///< [rows]

        [[nodiscard]] packed_rows view() const {
            return {static_cast<std::int64_t>(jump.size()), entries.size(), packed.data(),
                    jump.data()};
        }
    };

    void read_places(std::span<const local_columns> columns,
                     std::span<const std::int64_t* const> offsets);
    void bring_offsets(std::span<const std::int64_t* const> offsets);
    void add_up(int rank);

    std::vector<own_rows> own_;
};

} // namespace krylith
