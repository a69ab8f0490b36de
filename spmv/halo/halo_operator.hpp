// An operator with owned vectors. The kernel that last wrote x sends the entries that other devices
// reference, and rows that need no ghosts are multiplied first. With an allgather plan (operator
// allgather) all entries go to all devices.
#pragma once

#include <krylith/distributed/source/block_maker.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith {

template <class T>
class halo_operator final : public matrix_operator<T> {
public:
    /// A function that makes a device's block, with a format for its usual products.
    using make_block = std::unique_ptr<device_matrix<T>> (*)(const std::shared_ptr<device>&,
                                                             const local_csr<T>&, format_kind);

    /// `kind` is halo, allgather with a plan in which ranks have all columns, or another one whose
    /// blocks `prepared` makes: they enqueue what the host waits for before each product
    /// (device_matrix::prepare).
    halo_operator(operator_layouts layouts, const matrix_source<T>& source, const halo_plan& plan,
                  format_kind format, operator_kind kind = operators::halo,
                  make_block prepared = nullptr);

    /// Makes an operator halo whose blocks `make` returns.
    halo_operator(operator_layouts layouts, const index_map& columns, const block_maker<T>& make);

    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const override;
    [[nodiscard]] bool recordable() const override;

private:
    void schedule(const index_map& columns);
    void make_blocks(const matrix_source<T>& source, const halo_plan& plan, format_kind format);

    make_block prepared_ = nullptr; // null: blocks have nothing to prepare
};

} // namespace krylith
