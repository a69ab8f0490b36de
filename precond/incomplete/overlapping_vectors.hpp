// The vectors of a preconditioner whose devices solve with overlapping blocks: restricted additive
// Schwarz (Cai, Sarkis, SIAM J. Sci. Comput. 21, 1999), where each device takes r in all rows of
// its block, and gives z in those that it owns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/spmv/source/local_columns.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::incomplete {

template <class T>
class overlapping_vectors {
public:
    /// rows[rank] are those of the rank's block, in the order in which blocks have them. Vectors of
    /// the layout are owned.
    overlapping_vectors(layout_handle layout, std::vector<local_columns> rows);

    /// Enqueues the exchange that brings r to the blocks.
    void exchange(execution& run, const vector<T>& r);
    /// r in the rows of the rank's block.
    [[nodiscard]] const T* right_hand_side(int rank) const;
    /// Where the rank's block leaves its z.
    [[nodiscard]] T* solution(int rank) const { return part(rank).solution.data(); }
    /// The z of all blocks, each in the rows that its rank owns.
    [[nodiscard]] const vector<T>& owned_solution() const { return owned_; }

    /// Whether blocks have these rows.
    [[nodiscard]] bool has(std::span<const local_columns> rows) const;
    /// The row of the operator that is row i of the rank's block.
    [[nodiscard]] std::int64_t row_of(int rank, std::int64_t i) const;
    /// The bytes on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const;

private:
    struct rank_part {
        local_columns rows;
        buffer<std::int32_t> places; ///< of the block's rows in the exchanged vector; empty where
                                     ///< they are in that order
        buffer<T> gathered;          ///< r by them
        buffer<T> solution;
    };
    [[nodiscard]] const rank_part& part(int rank) const {
        return parts_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] static std::vector<rank_part> make_parts(const device_group& group,
                                                           std::vector<local_columns> rows);
    [[nodiscard]] static std::vector<T*> owned_arrays(const std::vector<rank_part>& parts);

    std::vector<rank_part> parts_;
    vector<T> exchanged_; ///< r: owned entries, then ghosts
    vector<T> owned_;
};

extern template class overlapping_vectors<double>;
extern template class overlapping_vectors<float>;

} // namespace krylith::incomplete
