#include <krylith/spmv/column_operator.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <krylith/device/error.hpp>
#include <krylith/sparse/csr/column_counts.hpp>
#include <krylith/spmv/columns/column_block.hpp>
#include <krylith/spmv/table/operators.hpp>
#include <krylith/vector/ghosts/expect_ghosts.hpp>

namespace krylith {

namespace {

/// Throws input_error where a rank has more entries of x than places of 32 bits.
template <class T>
void check_size(const matrix_operator<T>& single, int columns) {
    const layout& x = *single.domain_layout();
    for (const int rank : x.comm.local()) {
        const std::int64_t entries = x.held(rank) + single.received(rank);
        if (entries * columns > std::numeric_limits<std::int32_t>::max())
            throw input_error("rank " + std::to_string(rank) + " has " + std::to_string(entries) +
                              " entries of each of " + std::to_string(columns) +
                              " columns, but at most 2^31 - 1 in all are allowed: take fewer "
                              "columns or more devices");
    }
}

operator_layouts layouts_in_columns(const operator_layouts& single, int columns) {
    check_columns(columns);
    const layout_handle domain = in_columns(single.domain, columns);
    return {domain, single.square() ? domain : in_columns(single.range, columns)};
}

/// Whether the second layout is the first with `columns` entries a row.
bool in_columns_of(const layout& single, const layout& wide, int columns) {
    if (wide.kind != single.kind || wide.order || wide.comm != single.comm) return false;
    for (const int rank : single.comm.local())
        if (wide.rows.owned(rank).size() != single.rows.owned(rank).size() * columns) return false;
    return true;
}

} // namespace

template <class T>
column_operator<T>::column_operator(std::unique_ptr<matrix_operator<T>> single, int columns)
    : column_operator(layouts_in_columns(single->layouts(), columns), std::move(single), columns) {}

template <class T>
column_operator<T>::column_operator(const operator_layouts& layouts,
                                    std::unique_ptr<matrix_operator<T>>&& single, int columns)
    : column_operator(std::move(single), layouts, columns) {}

template <class T>
column_operator<T>::column_operator(std::unique_ptr<matrix_operator<T>> single,
                                    operator_layouts layouts, int columns)
    : matrix_operator<T>(single->kind(), std::move(layouts)),
      single_(std::move(single)),
      columns_(columns) {
    this->comm().together([&] { make(); });
}

template <class T>
void column_operator<T>::make() {
    if (single_->kind() != operators::halo || !single_->any_block().compressed())
        throw usage_error(std::string("several columns at once need operator halo in csr, not ") +
                          to_string(single_->kind()) + " in " + single_->format_name());
    const operator_layouts& wide = this->layouts_;
    if (!in_columns_of(*single_->domain_layout(), *wide.domain, columns_) ||
        !in_columns_of(*single_->range_layout(), *wide.range, columns_))
        throw usage_error("the layouts of an operator for several columns must be those of its "
                          "operator for one with as many entries a row");
    check_size(*single_, columns_);
    const communicator& comm = wide.range->comm;
    this->blocks_ = by_rank(comm, [&](int rank) -> std::unique_ptr<device_matrix<T>> {
        return std::make_unique<column_block<T>>(comm.handle(rank), single_->block(rank),
                                                 single_->range_layout()->rows.owned(rank).size(),
                                                 columns_);
    });
    if (single_->sends() != nullptr)
        this->schedule_ =
            std::make_shared<put_schedule<T>>(wide.domain, *single_->sends(), columns_);
}

template <class T>
void column_operator<T>::apply(execution& run, T alpha, const vector<T>& x, T beta, vector<T>& y,
                               std::span<const reduction_into<T>> dots) const {
    if (!dots.empty())
        throw usage_error("a product with several columns at once computes no dot products");
    expect_ghosts(run, x);
    this->open(run, x, y, dots);
    if (x.exchange() != nullptr) run.join_opened();
    for (const int rank : run.comm().local())
        this->blocks_[static_cast<std::size_t>(rank)]->apply(
            this->arguments(run, rank, alpha, x, beta, y, dots, 0));
    run.close();
}

#define KRYLITH_INSTANTIATE(T) template class column_operator<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
