// An operator with owned vectors. The kernel that last wrote x sends the entries that other devices
// reference, and rows that need no ghosts are multiplied first. With an allgather plan (operator
// allgather) all entries go to all devices.
#pragma once

#include <krylith/distributed/source/block_maker.hpp>
#include <krylith/partition/allgather/allgather_plan.hpp>
#include <krylith/partition/halo/halo_plan.hpp>
#include <krylith/spmv/matrix_operator.hpp>
#include <krylith/vector/ghosts/ghost_exchange.hpp>

namespace krylith {

template <class T>
class halo_operator final : public matrix_operator<T> {
public:
    /// A function that makes a device's block, with a format for its usual products.
    using make_block = std::unique_ptr<device_matrix<T>> (*)(const std::shared_ptr<device>&,
                                                             const local_csr<T>&, format_kind);

    /// `kind` is halo, or another one whose blocks `prepared` makes: they enqueue what the host
    /// waits for before each product (device_matrix::prepare).
    halo_operator(operator_layouts layouts, const matrix_source<T>& source, const halo_plan& plan,
                  format_kind format, operator_kind kind = operators::halo,
                  make_block prepared = nullptr);

    /// Makes operator allgather: every device receives all entries that it does not own.
    halo_operator(operator_layouts layouts, const matrix_source<T>& source,
                  const allgather_plan& plan, format_kind format);

    /// Makes an operator halo whose blocks `make` returns.
    halo_operator(operator_layouts layouts, const halo_plan& plan, const block_maker<T>& make);

    [[nodiscard]] vector<T> make_domain_vector(const std::string& item) const override {
        return vector<T>(this->layouts_.domain, item, schedule_);
    }
    void apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
               std::span<const reduction_into<T>> dots) const override;
    [[nodiscard]] bool recordable() const override;
    [[nodiscard]] std::int64_t received(int rank) const override {
        return schedule_ ? schedule_->ghosts(rank) : 0;
    }

    /// The entries that domain vectors send to each rank; null: no device needs another's entries.
    [[nodiscard]] const put_schedule<T>* sends() const { return schedule_.get(); }

private:
    void schedule(const halo_plan& plan);
    template <class Plan>
    void make_blocks(const matrix_source<T>& source, const Plan& plan, format_kind format);
    std::shared_ptr<const put_schedule<T>> schedule_;
    make_block prepared_ = nullptr; // null: blocks have nothing to prepare
};

} // namespace krylith
