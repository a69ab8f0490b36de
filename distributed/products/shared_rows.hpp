// Rows of matrices of which the owner and other ranks, where the rows are ghosts of local columns,
// have what the other needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/comm/exchange/exchange.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/local_columns.hpp>

namespace krylith {

/// What ghost_rows and transposed_pieces have in common: on the owner's device shared rows lie
/// packed, one exchange's items after the other's, and their entries travel so. Besides their
/// entries while these travel it takes 20 bytes a row there. Move-only.
class shared_rows {
public:
    /// The offsets of the rows that are made on a rank; they are handed over.
    [[nodiscard]] buffer<std::int64_t> take_offsets(int rank) {
        return std::move(offsets_.at(as_size(rank)));
    }
    /// The entries of these rows.
    [[nodiscard]] std::int64_t entries(int rank) const { return size_.at(as_size(rank)); }

protected:
    shared_rows() = default;
    /// `columns[rank]` are the local columns of each rank. Collective.
    shared_rows(const communicator& comm, std::span<const local_columns> columns);

    static std::size_t as_size(std::int64_t count) { return static_cast<std::size_t>(count); }
    [[nodiscard]] const communicator& comm() const noexcept { return *comm_; }
    [[nodiscard]] std::span<const shared_items> rows() const noexcept { return rows_.items(); }
    /// The offsets of item k of rows(), [count + 1] from 0, at the owner.
    [[nodiscard]] std::int64_t* packed(std::size_t k) const;
    /// Ways from its packed entries to those of the owner, [count].
    [[nodiscard]] std::int64_t* jump(std::size_t k) const;
    [[nodiscard]] packed_rows view(std::size_t k) const {
        return {rows()[k].count, taken_[k].size(), packed(k), jump(k)};
    }
    /// Memory for the packed entries of local ranks, and the place of those of item k.
    template <class V>
    [[nodiscard]] std::vector<buffer<V>> make_room() const {
        return by_rank(comm(), [&](int rank) {
            return buffer<V>(comm().handle(rank), as_size(room_[as_size(rank)]), item);
        });
    }
    [[nodiscard]] std::int64_t packed_at(std::size_t k) const { return entries_at_[k]; }
    /// Takes the entries of items, by their places in the users' arrays, and makes entries_.
    /// `taken` is right for items whose users are local. Collective.
    void take_places(std::vector<row_range> taken);
    /// The bytes that it keeps on the device of a rank.
    [[nodiscard]] std::int64_t bytes_of_rows(int rank) const noexcept;

    static constexpr const char* item = "rows of other ranks";

    exchange entries_;             ///< from packed entries to users' arrays
    std::vector<row_range> taken_; ///< [items of rows()] entries in the users' arrays
    std::vector<buffer<std::int64_t>> offsets_;
    std::vector<std::int64_t> size_;                  ///< entries, by rank
    std::vector<buffer<std::int64_t>> packed_, jump_; ///< [ranks]
    std::vector<std::int64_t> rows_at_;               ///< [items] places in packed_ and jump_

private:
    std::shared_ptr<const communicator> comm_; ///< null: empty
    exchange rows_;                            ///< lists are with owners
    std::vector<std::int64_t> entries_at_;     ///< [items] among packed entries
    std::vector<std::int64_t> room_;           ///< packed entries, by rank
};

} // namespace krylith
