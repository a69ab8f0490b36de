// Operators pcsr, pcsc, pcoo: every device holds equally many entries, whatever the rows are, and
// owned vectors (Chen et al., MSREP, arXiv:2209.07552; here the parts stay on the devices and the
// results are merged there).
//
// A device first multiplies its entries of rows that others own, by one kernel that stores each
// result into a slot of the owner; then those of its own rows, by one that adds up what came: rows
// without ghosts and slots first, while these are on their way. Each row so has its final value in
// one pass, dot products included, and the sum is taken in a fixed order: own entries, then the
// peers' by rank.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <krylith/partition/nonzero/nonzero_split_plan.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/spmv/nonzero_split/partial_exchange.hpp>

namespace krylith {

template <class T>
class nonzero_split_operator final : public matrix_operator<T> {
public:
    /// The layouts' rows are the rows and the columns of the plan. The source's values are in host
    /// memory.
    nonzero_split_operator(operator_kind kind, operator_layouts layouts,
                           const matrix_source<T>& source, nonzero_split_plan plan,
                           format_kind format);

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
    /// Which entries of the matrix a block has, in their order.
    struct entry_list {
        std::int64_t first = 0;
        std::int64_t count = 0;
        std::vector<std::int64_t> places = {}; // empty: from first on

        explicit entry_list(std::vector<std::int64_t> source);
        entry_list() = default;
        /// Values of the block; `room` keeps them if they are not together.
        [[nodiscard]] std::span<const T> of(std::span<const T> values, std::vector<T>& room) const;
    };
    struct remote_rows {
        std::unique_ptr<device_matrix<T>> matrix;
        bool reads_ghosts = false;
        entry_list entries;
        std::vector<std::int64_t> rows; // of the matrix
    };
    /// An entry of the diagonal that another device holds.
    struct non_local_entry {
        std::int32_t row; // of the owner
        std::int64_t place;
        T value;
    };

    void make_own_block(int rank, const nonzero_split_plan& plan, std::span<const T> values,
                        format_kind format);
    void make_remote_block(int rank, const nonzero_split_plan& plan, std::span<const T> values,
                           format_kind format);
    void find_non_local(const matrix_source<T>& source, const nonzero_split_plan& plan);
    /// Waits for devices that have remote rows, whose terms go through the host.
    [[nodiscard]] std::vector<buffer<residual_sums>>
    enqueue_residual(T s, const vector<T>& x, const vector<T>& b, vector<T>& r) const override;
    void distribute(std::span<const T> values) override;
    void check_device_update() const override;

    std::unique_ptr<const partial_exchange<T>> exchange_; // null: no device has remote rows
    std::vector<entry_list> own_;                         // [ranks]
    std::vector<remote_rows> remote_;                     // [ranks]
    std::vector<std::vector<non_local_entry>> non_local_; // [ranks] by owner
};

} // namespace krylith
