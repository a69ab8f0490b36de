// The vectors of a preconditioner whose devices solve with blocks of their own, which may overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/source/local_columns.hpp>
#include <krylith/vector/execution.hpp>
#include <krylith/vector/fused.hpp>
#include <krylith/vector/vector.hpp>

namespace krylith::incomplete {

/// Blocks that overlap make restricted additive Schwarz (Cai, Sarkis, SIAM J. Sci. Comput. 21,
/// 1999): each takes r in all its rows, and gives z in those that its rank owns.
template <class T>
class block_vectors {
public:
    /// Blocks have the rows that the layout has on a device: its own, or all where vectors are
    /// replicated.
    explicit block_vectors(layout_handle layout);
    /// The block of a rank has the rows of rows[rank], in their order. The layout is owned.
    /// Collective.
    block_vectors(layout_handle layout, std::vector<local_columns> rows);

    /// Enqueues z = M^-1 r with the dots: solve(rank, r, z) enqueues the solve with a block on its
    /// device, from and to arrays in the order of the block's rows. Throws usage_error, which names
    /// `who`, for vectors of another layout.
    template <class Solve>
    void apply(execution& run, const std::string& who, const vector<T>& r, vector<T>& z,
               std::span<const reduction_into<T>> dots, const Solve& solve) {
        begin(run, who, r, z);
        for (const int rank : run.comm().local())
            if (layout_->held(rank) != 0) solve(rank, right_hand_side(rank, r), solution(rank));
        finish(run, z, dots);
    }

    /// Whether the blocks of local ranks have these rows; none for those that don't overlap.
    [[nodiscard]] bool has(std::span<const local_columns> rows) const;
    /// The row of the operator that is row i of the rank's block.
    [[nodiscard]] std::int64_t row_of(int rank, std::int64_t i) const;
    /// The bytes on the device of a rank.
    [[nodiscard]] std::int64_t bytes(int rank) const;
    /// The kernels that the exchange of r takes.
    [[nodiscard]] int kernels() const { return parts_.empty() ? 0 : 2; }

private:
    struct overlapping_part {
        local_columns rows;
        buffer<T> solution;
    };
    [[nodiscard]] static std::vector<overlapping_part> make_parts(const communicator& comm,
                                                                  std::vector<local_columns> rows);
    [[nodiscard]] static std::vector<T*> owned_arrays(const std::vector<overlapping_part>& parts);
    [[nodiscard]] const overlapping_part& part(int rank) const {
        return parts_[static_cast<std::size_t>(rank)];
    }

    void begin(execution& run, const std::string& who, const vector<T>& r, const vector<T>& z);
    void finish(execution& run, vector<T>& z, std::span<const reduction_into<T>> dots);
    [[nodiscard]] const T* right_hand_side(int rank, const vector<T>& r) const;
    [[nodiscard]] T* solution(int rank) const {
        return parts_.empty() ? solution_.data(rank) : part(rank).solution.data();
    }

    layout_handle layout_;
    std::vector<overlapping_part> parts_; ///< [ranks]; empty: blocks don't overlap
    std::optional<vector<T>> exchanged_;  ///< r of overlapping blocks
    /// z. Solves write an array of M's own: a loop that has stopped must not write the caller's.
    vector<T> solution_;
};

} // namespace krylith::incomplete
