// An operator with replicated vectors: every device holds whole vectors and multiplies some rows;
// each result goes to all other devices while the next rows are computed.
// partition/replicated/block_partition.hpp says which rows, in which order (nz, 2nz, lra, lra-rc),
// the transport (spmv/table/transports.hpp) how results travel.
//
// With peer stores a device's rows are one block, in the order of the partition, and one kernel:
// each result leaves when it is computed, so that 2nz is nz in two halves. With copy engines or
// NCCL (as in the paper) each range of rows is a block with a kernel of its own; results of the
// first stage travel under the second one. The host enqueues their events and streams: no recorded
// loop can contain them, and dot products take a pass of their own.
#pragma once

#include <memory>
#include <vector>

#include <krylith/comm/channel/channel.hpp>
#include <krylith/comm/copy/block_exchange.hpp>
#include <krylith/distributed/source/block_maker.hpp>
#include <krylith/distributed/source/joined_rows.hpp>
#include <krylith/partition/replicated/block_partition.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

struct resident_rows;

template <class T>
class replicated_operator final : public matrix_operator<T> {
public:
    /// `transport` is what choose_transport() returned. With redundant rows all devices use one
    /// format: csr, if their blocks would choose different ones.
    replicated_operator(operator_kind kind, operator_layouts layouts,
                        const matrix_source<T>& source, block_partition partition,
                        transport_kind transport, format_kind format);

    /// Makes operator nz with blocks that `make` returns.
    replicated_operator(operator_layouts layouts, const block_maker<T>& make);

    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const override;
    void diagonal(vector<T>& d) const override;
    [[nodiscard]] std::int64_t received(int rank) const override {
        return this->rows() - partition_.computed(rank);
    }
    [[nodiscard]] std::int64_t matrix_bytes(int rank) const override;
    [[nodiscard]] bool recordable() const override;
    [[nodiscard]] transport_kind transport() const override { return transport_; }

private:
    /// Whether the kernel that computes a result sends it.
    [[nodiscard]] bool stores() const { return transport_->exchange == nullptr; }

    enum class step { first, second, redundant };
    /// The rows of a block of matrix_operator::blocks_. With peer stores each rank has one block,
    /// and another one of redundant rows that are `apart_`.
    struct block_rows {
        int rank;
        joined_rows rows;
        step when;
    };

    void plan(const row_starts& starts);
    void make_blocks(const matrix_source<T>& source, format_kind format);
    /// Brings the patterns of blocks to CUDA devices that have not got them.
    [[nodiscard]] std::vector<resident_rows> bring_patterns(const matrix_source<T>& source) const;
    void connect();
    void store(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const;
    void send_results(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                      std::span<const reduction_into<T>> dots) const;
    [[nodiscard]] std::vector<buffer<residual_sums>>
    enqueue_residual(T s, const vector<T>& x, const vector<T>& b, vector<T>& r) const override;
    /// Where a block's rows lie in y, for passes that each device makes in its own copy.
    [[nodiscard]] row_map map_of(const block_rows& p) const;
    /// Copies what each rank has computed of v to the others.
    void give_to_all(vector<T>& v) const;

    transport_kind transport_;
    block_partition partition_;
    /// Whether redundant rows are blocks of their own, the same on all devices, since the format
    /// rounds by block. Dot products then take a pass over y.
    bool apart_ = false;
    std::vector<block_rows> block_rows_;       // [blocks]
    channel results_;                          // of no ranks unless stores()
    std::unique_ptr<block_exchange> exchange_; // null if stores()
};

} // namespace krylith
