// Steps that fill blocks with a matrix's entries, and move rows of blocks that several devices
// share (device/loops/visit_rows.hpp has what a step is).
#pragma once

#include <cstdint>

#include <krylith/device/loops/shared_numbers.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/precond/blocks/block_view.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>
#include <krylith/precond/colouring/colour_steps.hpp>

namespace krylith::detail {

struct visits_all : writes_only {
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
};

/// A number by the pattern of a row, whatever the order of its entries.
struct pattern_hash_step {
    aggregation::rank_rows a;
    unsigned long long* hashes; ///< [rows]

    using part_type = unsigned long long;
    KRYLITH_HD static part_type join(part_type one, part_type other) { return one + other; }
    [[nodiscard]] KRYLITH_HD bool wanted(std::int64_t) const { return true; }
    [[nodiscard]] KRYLITH_HD part_type part(std::int64_t row, int lane, int lanes) const {
        part_type sum = 0;
        for (std::int64_t k = a.offsets[row] + lane; k < a.offsets[row + 1]; k += lanes)
            sum += colouring::entry_hash(1, a.columns.global(a.indices[k]));
        return sum;
    }
    KRYLITH_HD bool finish(std::int64_t row, part_type sum) const {
        hashes[row] = sum;
        return false;
    }
};

/// Whether a row has the pattern of the one before.
struct same_pattern_step : visits_all {
    const unsigned long long* hashes;
    std::uint8_t* same;

    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        same[row] = row > 0 && hashes[row] == hashes[row - 1] ? 1 : 0;
        return false;
    }
};

/// Writes the rows of A's diagonal blocks. Entries at one place add up.
template <class T>
struct gather_blocks_step : visits_all {
    aggregation::rank_rows a;
    const T* entries;
    block_view<T> blocks;

    KRYLITH_HD bool finish(std::int64_t row, std::uint32_t) const {
        const block_place place = blocks.places[row];
        for (int j = 0; j < place.size; ++j) blocks.at(row, j) = T(0);
        const std::int64_t first = a.columns.first_owned + row - place.at;
        for (std::int64_t k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
            const std::int64_t j = a.columns.global(a.indices[k]) - first;
            if (j >= 0 && j < place.size) blocks.at(row, j) += entries[k];
        }
        return false;
    }
};

/// Copies rows of blocks to and from an array with largest_block numbers a row.
template <class T>
struct pack_rows_step : visits_all {
    block_view<T> blocks;
    std::int64_t first;
    T* rows;

    KRYLITH_HD bool finish(std::int64_t k, std::uint32_t) const {
        for (int j = 0; j < blocks.places[first + k].size; ++j)
            rows[k * largest_block + j] = blocks.at(first + k, j);
        return false;
    }
};
template <class T>
struct unpack_rows_step : visits_all {
    block_view<T> blocks;
    std::int64_t first;
    const T* rows;

    KRYLITH_HD bool finish(std::int64_t k, std::uint32_t) const {
        for (int j = 0; j < blocks.places[first + k].size; ++j)
            blocks.at(first + k, j) = rows[k * largest_block + j];
        return false;
    }
};

/// Copies rows of a whole block to where the device has them.
template <class T>
struct take_rows_step : visits_all {
    block_view<T> blocks;
    std::int64_t from;
    std::int64_t to;

    KRYLITH_HD bool finish(std::int64_t k, std::uint32_t) const {
        for (int j = 0; j < blocks.places[to + k].size; ++j)
            blocks.at(to + k, j) = blocks.at(from + k, j);
        return false;
    }
};

} // namespace krylith::detail
