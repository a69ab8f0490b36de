// The number of unknowns a node, found in the pattern of a matrix.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith {

/// Returns the rows of a node: the largest number up to 6 that divides the number of rows and for
/// which the rows of a node are coupled with the same nodes, nine of ten rows at least, by blocks
/// of which 60% is there, unless this holds from row 1 on as well, as for bands and full matrices.
/// 1: there are no nodes of several rows. Rows of one entry, as boundary conditions leave them, say
/// nothing. It looks at 480 rows at most, and the matrix may be invalid. Cost: up to 0.3 ms, one
/// thread.
template <class T>
[[nodiscard]] int find_block_size(const csr_view<T>& matrix);

/// The same for a matrix of so many rows, of which read(rows, offsets, columns) gives neighbouring
/// ones: offsets, from any number, and global columns.
using read_window = std::function<void(row_range rows, std::vector<std::int64_t>& offsets,
                                       std::vector<std::int32_t>& columns)>;
[[nodiscard]] int find_block_size(std::int64_t rows, const read_window& read);

namespace detail {

/// The same for rows wherever they are.
class block_size_search {
public:
    explicit block_size_search(std::int64_t rows);

    /// The ranges of rows to look at.
    [[nodiscard]] const std::vector<row_range>& windows() const { return windows_; }
    /// Looks at neighbouring rows, the first of which has number `first`: row first + k has the
    /// global columns [offsets[k], offsets[k + 1]) - offsets[0].
    void look_at(std::int64_t first, std::span<const std::int64_t> offsets,
                 std::span<const std::int32_t> columns);
    [[nodiscard]] int block_size() const;
    /// Whether it is 1 whatever the rows are that have not been looked at.
    [[nodiscard]] bool excludes_nodes() const;

    /// As many of the rows with these offsets as are enough to look at: long ones are fewer.
    [[nodiscard]] static std::int64_t enough(std::span<const std::int64_t> offsets);

private:
    static constexpr int most = 6;

    struct tally {
        std::int64_t rows = 0;   ///< compared with another one of their node
        std::int64_t other = 0;  ///< of these, coupled with other nodes
        std::int64_t places = 0; ///< in the blocks of rows that were looked at
        std::int64_t entries = 0;

        [[nodiscard]] bool of_nodes() const {
            return rows > 0 && 10 * other <= rows && 10 * entries >= 6 * places;
        }
    };

    void look_at_node(std::span<const std::span<const std::int32_t>> rows, std::size_t shift,
                      tally& found);

    std::int64_t rows_;
    std::vector<row_range> windows_;
    std::array<std::array<tally, 2>, most + 1> tallies_{}; ///< [size][number of the first row]
    std::vector<std::int32_t> nodes_;                      ///< of one row
    std::vector<std::int32_t> expected_;
};

} // namespace detail

} // namespace krylith
