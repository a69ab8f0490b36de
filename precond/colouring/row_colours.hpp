// Colours of the rows of a matrix over a group: no two rows that an entry couples have the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>

namespace krylith {

/// Sweeps and triangular factors work on the rows of a colour at once. Colours are numbered from 0,
/// and each is that of some row. Move-only.
class row_colours {
public:
    row_colours() = default;

    /// The number of colours: at most one more than the largest number of neighbours of a row.
    [[nodiscard]] int count() const noexcept { return count_; }
    /// The colours of the local columns of A on a rank, ghosts too: [columns_of(rank).count()]. Row
    /// i of the rank has that of column first_owned() + i.
    [[nodiscard]] const std::int32_t* of_columns(int rank) const {
        return colours_[at(rank)].data();
    }
    /// The rows of a rank, counted from its first one, colour by colour, ascending in each: [rows].
    [[nodiscard]] const std::int32_t* order(int rank) const { return order_[at(rank)].data(); }
    /// Where the rows of each colour begin in order(rank), and where the last ones end: [count() +
    /// 1] numbers in host memory. A rank need not have rows of each colour.
    [[nodiscard]] std::span<const std::int64_t> begin(int rank) const { return begin_[at(rank)]; }
    /// The bytes on the device of a rank: 4 a local column and 4 a row.
    [[nodiscard]] std::int64_t bytes(int rank) const {
        return static_cast<std::int64_t>((colours_[at(rank)].size() + order_[at(rank)].size()) *
                                         sizeof(std::int32_t));
    }

private:
    template <class T>
    friend row_colours colour_rows(const distributed_csr<T>& a);
    [[nodiscard]] static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
    void list_rows(const communicator& comm, const row_partition& rows,
                   std::span<const local_columns> columns);

    int count_ = 0;
    std::vector<buffer<std::int32_t>> colours_; ///< [ranks], as the others
    std::vector<buffer<std::int32_t>> order_;
    std::vector<std::vector<std::int64_t>> begin_;
};

/// Colours the rows of A, which is square with one partition of rows and columns. Rows i and j have
/// different colours where a_ij or a_ji is an entry, whatever its value. A row takes the least
/// colour that is left once all neighbours with larger keys have theirs; keys are an integer hash
/// of the global row (Jones and Plassmann, SIAM J. Sci. Comput. 14, 1993). So colours are the same
/// on any number of devices.
///
/// Cost: a dozen passes over the pattern, of which only the first ones visit most rows, with an
/// exchange of ghosts each, and a pass over the rows for each colour. Where the pattern is not
/// symmetric, columns must ascend strictly in each row, and that of A + A' is made for a while.
/// Waits for the devices. Collective. Throws usage_error where rows and columns have different
/// owners.
template <class T>
[[nodiscard]] row_colours colour_rows(const distributed_csr<T>& a);

} // namespace krylith
