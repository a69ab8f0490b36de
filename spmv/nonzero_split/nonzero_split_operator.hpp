// Operators pcsr, pcsc, pcoo: every device holds equally many entries, whatever the rows are, and
// owned vectors (Chen et al., MSREP, arXiv:2209.07552; here the parts stay on the devices and the
// results are merged there).
//
// A device first multiplies its entries of rows that others own, and stores each result into a slot
// of the owner: by a kernel of its own or, where they are few, as with pcsr, in one warp beside its
// own rows. These it multiplies as `halo` does. What came meanwhile is added last: to a few rows,
// as pcsr has them, by the last block of the same kernel, which also counts them in the dot
// products; to many by another kernel, after which the dot products are computed. Sums are taken in
// a fixed order: own entries, then the peers' by rank.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/nonzero_split/partial_exchange.hpp>
#include <krylith/spmv/nonzero_split/split_matrix.hpp>

namespace krylith {

template <class T>
class nonzero_split_operator final : public matrix_operator<T> {
public:
    /// The layouts' rows are the rows and the columns of the plan.
    nonzero_split_operator(operator_kind kind, operator_layouts layouts,
                           const matrix_source<T>& source, split_matrix split, format_kind format);

    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const override;
    /// Waits for a device that owns an entry of the diagonal which another one holds.
    void diagonal(vector<T>& d) const override;
    /// Ghosts of x and partial sums of y.
    [[nodiscard]] std::int64_t received(int rank) const override;
    [[nodiscard]] std::int64_t matrix_bytes(int rank) const override;

    /// Its entries of rows that others own; null: none.
    [[nodiscard]] const device_matrix<T>* remote_block(int rank) const {
        return remote_[static_cast<std::size_t>(rank)].matrix.get();
    }

private:
    struct remote_rows {
        std::unique_ptr<device_matrix<T>> matrix;
        bool reads_ghosts = false;
        bool few = false;               // it reaches their owners, and takes them early
        std::vector<std::int64_t> rows; // of the matrix
    };
    /// An entry of the diagonal that another device holds.
    struct non_local_entry {
        held_elsewhere of;
        T value = {};
    };
    /// Those of which the values lie on a device, while it has newer ones.
    struct values_there {
        buffer<std::int64_t> places;
        buffer<T> values;
        std::vector<non_local_entry*> entries;
    };

    void make_own_block(int rank, split_matrix& split, format_kind format);
    void make_remote_block(int rank, split_matrix& split, format_kind format);
    [[nodiscard]] static local_csr<T> block_of(const split_matrix& split, int rank, bool remote,
                                               device_pattern& there);
    /// Whether the product of the own rows has these with it. Where events order devices, those
    /// must have all sums before the products of own rows begin.
    [[nodiscard]] static bool is_early(const execution& run, const remote_rows& rows) {
        return rows.few && !run.ordered();
    }
    /// Enqueues the product of a device's own rows, and adds the sums of its peers.
    void multiply_own(spmv_arguments<T>& a, int rank) const;
    /// Gives values of the entries that the lists count, which lie on the devices.
    void give(const array_over_group<T>& arrays);
    /// Deals the values of the source's rows out by columns.
    void give_by_columns(std::span<const T* const> given);
    void find_values(std::span<const std::int64_t> first);
    /// Waits for devices that have remote rows, whose terms go through the host.
    [[nodiscard]] std::vector<buffer<residual_sums>>
    enqueue_residual(T s, const vector<T>& x, const vector<T>& b, vector<T>& r) const override;
    void give(std::span<const T* const> in_rows) override;
    void give(std::span<const T> all) override;

    std::unique_ptr<const partial_exchange<T>> exchange_;         // null: no device has remote rows
    std::vector<remote_rows> remote_;                             // [ranks]
    std::shared_ptr<const column_values> dealt_by_columns_;       // split_matrix::dealt
    mutable std::vector<std::vector<non_local_entry>> non_local_; // [ranks] by owner
    std::vector<values_there> values_there_;                      // [ranks], or empty
    mutable bool newer_there_ = false;                            // than those of non_local_
};

} // namespace krylith
