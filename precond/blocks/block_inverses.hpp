// The inverses of the blocks along the diagonal of a matrix over the devices of a group.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/partition/halo/index_map.hpp>
#include <krylith/precond/blocks/block_view.hpp>
#include <krylith/precond/blocks/invert_blocks.hpp>
#include <krylith/vector/layout.hpp>

namespace krylith::detail {

/// Each device has the inverses' rows that it owns. A block that a cut between two devices divides
/// is put together on the host and inverted on each of the two, so that M is the same on any number
/// of devices. Move-only.
template <class T>
class block_inverses {
public:
    /// Says where blocks lie: places[row] for all rows. Waits for the devices.
    block_inverses(const layout& layout, const std::vector<block_place>& places);

    /// Inverts the blocks of A, whose rows are the layout's. All of it is there, or nothing has
    /// changed: inverses that are there already stay where they are, and new ones are made beside
    /// them. Waits for the devices. Collective. Throws input_error naming the first block without a
    /// finite inverse.
    void take(const layout& layout, const distributed_csr<T>& a);

    /// The exponent of the largest entry; 0 where there is none.
    [[nodiscard]] int exponent() const noexcept { return exponent_; }
    [[nodiscard]] block_view<T> view(int rank) const;
    [[nodiscard]] block_columns columns(int rank) const {
        return ranks_[static_cast<std::size_t>(rank)].columns;
    }
    /// Which entries devices need of each other: those of blocks that are divided. No rank has
    /// ghosts where vectors are replicated. Collective.
    [[nodiscard]] index_map map(const layout& layout) const;
    /// The bytes on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const;
    /// Those that an application reads.
    [[nodiscard]] std::int64_t bytes_read(int rank) const;
    [[nodiscard]] std::int64_t count() const noexcept { return count_; }
    [[nodiscard]] int largest() const noexcept { return largest_; }

private:
    /// A block of which the device has a part.
    struct divided_block {
        std::int64_t begin; ///< its first row, global
        int size;
        std::int64_t whole; ///< where it is as a whole
        std::int64_t first; ///< its first row that the device has, in the block
        std::int64_t rows;  ///< so many
        std::int64_t own;   ///< the first of them on the device
    };
    /// The rows of a block.
    struct block_rows {
        std::int64_t begin; ///< global
        int size;
    };
    struct rank_blocks {
        block_columns columns;
        std::int64_t rows = 0;
        std::int64_t columns_stored = 0; ///< of all slices
        std::vector<divided_block> divided;
        std::vector<block_rows> listed; ///< blocks
        buffer<block_place> places;
        buffer<std::uint32_t> begin;
        buffer<std::int32_t> first; ///< of blocks
        buffer<T> values;
        buffer<T> spare;
    };

    [[nodiscard]] static rank_blocks lay_out(const layout& layout, int rank,
                                             const std::vector<block_place>& places);
    void join_divided(const layout& layout, const std::vector<T*>& values);
    void accept(const layout& layout, const std::vector<T*>& values);
    [[noreturn]] static void refuse(const layout& layout, const block_rows& block);
    [[nodiscard]] block_view<T> view_of(const rank_blocks& blocks, T* values) const {
        return {blocks.rows, blocks.places.data(), blocks.begin.data(), values};
    }

    std::vector<rank_blocks> ranks_; ///< [ranks]
    std::int64_t count_ = 0;
    int largest_ = 0;
    int exponent_ = 0;
    bool there_ = false;
};

} // namespace krylith::detail
