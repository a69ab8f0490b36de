// CSR5: the entries of compressed rows in tiles of omega lanes and sigma entries a lane, equal work
// for every lane whatever the lengths of rows, and what a tile must know of the rows in it (Liu and
// Vinter, "CSR5: an efficient storage format for cross-platform sparse matrix-vector
// multiplication", ICS 2015, section 3). Pure arithmetic, no values.
//
// Lane i of a tile has the sigma entries from i * sigma on in the order of CSR; its entry j lies at
// place j * omega + i, so that lanes which load side by side read side by side. The last tile keeps
// the order of CSR where it is incomplete.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/kernel/annotations.hpp>

namespace krylith {

inline constexpr int csr5_omega = 32; ///< a warp for each tile
inline constexpr int most_csr5_sigma = 16;

struct csr5_shape {
    int omega = csr5_omega; ///< at most 32
    int sigma = 0;          ///< at most most_csr5_sigma

    [[nodiscard]] KRYLITH_HD constexpr std::int64_t tile_entries() const {
        return std::int64_t{omega} * sigma;
    }
    [[nodiscard]] KRYLITH_HD constexpr std::int64_t tiles_of(std::int64_t nonzeros) const {
        return (nonzeros + tile_entries() - 1) / tile_entries();
    }
    /// The place of an entry of CSR among `nonzeros`.
    [[nodiscard]] KRYLITH_HD constexpr std::int64_t place_of(std::int64_t entry,
                                                             std::int64_t nonzeros) const {
        const std::int64_t first = entry / tile_entries() * tile_entries();
        if (first + tile_entries() > nonzeros) return entry;
        const std::int64_t in_tile = entry - first;
        return first + in_tile % sigma * omega + in_tile / sigma;
    }
    /// The entry of CSR at a place: the inverse of place_of().
    [[nodiscard]] KRYLITH_HD constexpr std::int64_t entry_at(std::int64_t place,
                                                             std::int64_t nonzeros) const {
        const std::int64_t first = place / tile_entries() * tile_entries();
        if (first + tile_entries() > nonzeros) return place;
        const std::int64_t in_tile = place - first;
        return first + in_tile % omega * sigma + in_tile / omega;
    }
};

/// What the paper calls tile_ptr: the row of the first entry of a tile, and a mark where one of the
/// rows from there to that of the next tile is empty.
struct csr5_tile_row {
    static constexpr std::uint32_t mark = 0x80000000U;

    [[nodiscard]] KRYLITH_HD static constexpr std::int32_t row(std::uint32_t word) {
        return static_cast<std::int32_t>(word & ~mark);
    }
    [[nodiscard]] KRYLITH_HD static constexpr bool has_empty(std::uint32_t word) {
        return (word & mark) != 0;
    }
};

/// What the paper calls the tile descriptor, the word of one lane. A *segment* is the entries of a
/// row in a tile.
struct csr5_lane {
    /// Bit j: entry j of the lane is the first of its row, or of the tile.
    [[nodiscard]] KRYLITH_HD static constexpr std::uint32_t flags(std::uint32_t word) {
        return word & 0xffffU;
    }
    /// The segments that begin in the lanes before.
    [[nodiscard]] KRYLITH_HD static constexpr int y_offset(std::uint32_t word) {
        return static_cast<int>(word >> 16 & 0x3ffU);
    }
    /// The lanes behind, up to the next in which a segment begins; 0 where none begins in this one.
    [[nodiscard]] KRYLITH_HD static constexpr int seg_offset(std::uint32_t word) {
        return static_cast<int>(word >> 26);
    }
    [[nodiscard]] KRYLITH_HD static constexpr std::uint32_t pack(std::uint32_t flags, int y_offset,
                                                                 int seg_offset) {
        return flags | static_cast<std::uint32_t>(y_offset) << 16 |
               static_cast<std::uint32_t>(seg_offset) << 26;
    }
};

/// All of CSR5 but columns and values.
struct csr5_layout {
    csr5_shape shape;
    std::vector<std::uint32_t> tile_rows; ///< [tiles + 1] csr5_tile_row; the last is `rows`
    std::vector<std::uint32_t> lanes;     ///< [omega * tiles] csr5_lane
    /// [tiles + 1] where the segments of a tile begin in empty_offsets, if it has the mark.
    std::vector<std::uint32_t> empty_begin;
    /// Of tiles with the mark: the row of each segment, counted from that of the tile. In others
    /// rows follow each other.
    std::vector<std::int32_t> empty_offsets;
    std::vector<std::int32_t> empty_rows; ///< all, in order
};

/// Makes the arrays of a block by its offsets (rows + 1, the first need not be 0). O(rows +
/// nonzeros / sigma).
[[nodiscard]] csr5_layout make_csr5_layout(std::span<const std::int64_t> offsets, csr5_shape shape);

/// The bytes that a product reads besides values and columns.
[[nodiscard]] std::int64_t csr5_layout_bytes(const csr5_layout& layout);

/// The sigma for rows of this mean length: 8 below 8 nonzeros a row, else 16. More entries a lane
/// share what describes it, fewer leave registers for more warps. Measured on H200s
/// (docs/measured.md, "CSR5").
[[nodiscard]] int choose_csr5_sigma(std::int64_t rows, std::int64_t nonzeros);

} // namespace krylith
