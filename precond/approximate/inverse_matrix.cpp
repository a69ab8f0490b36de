#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/approximate/inverse_matrix.hpp>

#include <algorithm>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/distributed_products.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/approximate/pattern_steps.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

/// The chosen entries of each row.
template <class T>
distributed_csr<T> chosen_pattern(const distributed_csr<T>& from, bool lower, double floor) {
    const communicator& comm = from.comm();
    std::vector<device_csr<T>> blocks(as_size(comm.ranks()));
    std::vector<local_columns> columns(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const device_csr_view<T> view = from.block(rank).view();
        const chosen_entries<T> chosen{
            {}, aggregation::rows_of(from, rank), view.values, lower, floor};
        buffer<std::int64_t> offsets(device, as_size(view.rows + 1), precond_item);
        {
            const buffer<std::int32_t> counts(device, as_size(view.rows), precond_item);
            visit_rows(*device, view.rows, 1, count_chosen_step<T>{chosen, counts.data()});
            add_up_sizes(device, view.rows, counts.data(), offsets.data());
        }
        std::int64_t entries = 0;
        device->download(&entries, offsets.data() + view.rows, sizeof entries);
        buffer<std::int32_t> indices(device, as_size(entries), precond_item);
        buffer<T> values(device, as_size(entries), precond_item);
        visit_rows(*device, view.rows, 1,
                   list_chosen_step<T>{chosen, offsets.data(), indices.data()});
        const row_range owned = from.column_owners().owned(rank);
        columns[as_size(rank)] =
            comm.ranks() == 1 ? local_columns(device, owned, {})
                              : number_columns(device, owned, from.columns(), indices).value();
        blocks[as_size(rank)] = {device, columns[as_size(rank)].count(), std::move(offsets),
                                 std::move(indices), std::move(values)};
    });
    return {comm, from.row_owners(), from.column_owners(), std::move(blocks), std::move(columns)};
}

} // namespace

template <class T>
inverse_matrix<T>::inverse_matrix(std::string name, const distributed_csr<T>& a,
                                  const distributed_csr<T>& pattern, inverse_kind kind,
                                  double floor)
    : name_(std::move(name)),
      kind_(kind),
      matrix_(chosen_pattern(pattern, kind == inverse_kind::factor, floor)) {
    const communicator& comm = a.comm();
    const auto most = by_rank(comm, [&](int rank) {
        buffer<std::uint32_t> found(comm.handle(rank), 1, precond_item);
        found.zero();
        visit_rows(comm[rank], a.block(rank).rows(), 1,
                   longest_row_step{{}, matrix_.block(rank).view().offsets, found.data()});
        return found;
    });
    auto longest = by_rank(comm, [&](int rank) { return most[as_size(rank)].download().front(); });
    comm.all_gather(longest);
    longest_ = static_cast<int>(std::ranges::max(longest));
    if (comm.ranks() > 1) fetch_pattern(a);
}

template <class T>
void inverse_matrix<T>::fetch_pattern(const distributed_csr<T>& a) {
    const communicator& comm = a.comm();
    const auto offsets = by_rank(comm, [&](int rank) { return a.block(rank).view().offsets; });
    ghosts_ = ghost_rows(comm, matrix_.all_columns(), offsets);
    fetched_ = by_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const std::size_t entries = as_size(ghosts_.entries(rank));
        return fetched_rows{ghosts_.take_offsets(rank),
                            {device, entries, precond_item},
                            {device, entries, precond_item}};
    });
    const auto own = by_rank(comm, [&](int rank) { return a.global_columns(rank); });
    const auto from =
        by_rank(comm, [&](int rank) -> const std::int32_t* { return own[as_size(rank)].data(); });
    const auto to = by_rank(comm, [&](int rank) { return fetched_[as_size(rank)].columns.data(); });
    ghosts_.fetch(from, to);
}

template <class T>
rows_of_matrix<T> inverse_matrix<T>::rows_for(const distributed_csr<T>& a, int rank) const {
    if (fetched_.empty()) {
        const device_csr_view<T> view = a.block(rank).view();
        return {view.offsets, view.indices, view.values};
    }
    const fetched_rows& rows = fetched_[as_size(rank)];
    return {rows.offsets.data(), rows.columns.data(), rows.values.data()};
}

template <class T>
void inverse_matrix<T>::take(const layout& layout, const distributed_csr<T>& a) {
    const communicator& comm = a.comm();
    if (!fetched_.empty()) {
        const std::vector<const T*> from = a.values();
        const auto to =
            by_rank(comm, [&](int rank) { return fetched_[as_size(rank)].values.data(); });
        ghosts_.fetch(from, to);
    }
    const auto device_reports = by_rank(comm, [&](int rank) {
        device_csr<T>& block = matrix_.block(rank);
        const device_csr_view<T> view = block.view();
        buffer<inversion_report> report(comm.handle(rank), 1, precond_item);
        report.zero();
        if (view.rows == 0) return report;
        const inverse_rows<T> rows{view.rows,
                                   view.offsets,
                                   view.indices,
                                   matrix_.columns_of(rank).numbers(),
                                   block.values(),
                                   rows_for(a, rank),
                                   kind_ == inverse_kind::whole,
                                   longest_};
        KRYLITH_ON(comm[rank], solve_inverse_rows(comm[rank], rows, report.data()));
        return report;
    });
    auto reports =
        by_rank(comm, [&](int rank) { return device_reports[as_size(rank)].download().front(); });
    comm.all_gather(reports);
    std::uint64_t exponent = 0;
    std::int64_t bad = layout.size();
    for (int rank = 0; rank < comm.ranks(); ++rank) {
        const inversion_report& report = reports[as_size(rank)];
        exponent = std::max(exponent, report.exponent);
        if (report.bad != 0)
            bad = std::min(bad,
                           layout.rows.owned(rank).begin + static_cast<std::int64_t>(~report.bad));
    }
    if (bad != layout.size()) {
        const std::string row =
            "row " + std::to_string(layout.row_of_caller(bad)) + " (counted from 0)";
        if (kind_ == inverse_kind::factor)
            throw input_error(name_ + ": the rows and columns that " + row +
                              " has entries in, up to its own, are not a positive definite matrix; "
                              "allowed is symmetric positive definite A with finite entries");
        throw input_error(
            name_ + ": the rows of A that " + row +
            " has entries in are linearly dependent, missing or not finite; they must "
            "be independent");
    }
    exponent_ = exponent == 0 ? 0
                              : static_cast<int>(static_cast<std::int64_t>(exponent) -
                                                 inversion_report::exponent_bias);
}

template <class T>
std::int64_t inverse_matrix<T>::bytes(int rank) const {
    std::int64_t sum = matrix_.block(rank).bytes() + matrix_.columns_of(rank).bytes();
    if (fetched_.empty()) return sum;
    const fetched_rows& rows = fetched_[as_size(rank)];
    return sum + ghosts_.bytes(rank) +
           static_cast<std::int64_t>(rows.offsets.size() * sizeof(std::int64_t) +
                                     rows.columns.size() * sizeof(std::int32_t) +
                                     rows.values.size() * sizeof(T));
}

template <class T>
distributed_csr<T> squared_couplings(const distributed_csr<T>& a, double floor) {
    const communicator& comm = a.comm();
    const auto roots = by_rank(comm, [&](int rank) {
        buffer<double> mine(comm.handle(rank), as_size(a.columns_of(rank).count()), precond_item);
        visit_rows(
            comm[rank], a.block(rank).rows(), 1,
            diagonal_root_step<T>{
                {}, aggregation::rows_of(a, rank), a.block(rank).view().values, mine.data()});
        return mine;
    });
    const exchange ghosts = exchange_of_ghosts(a);
    ghosts.fetch(roots);
    auto blocks = by_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const device_csr_view<T> view = a.block(rank).view();
        buffer<std::int64_t> offsets(device, as_size(view.rows + 1), precond_item);
        buffer<std::int32_t> indices(device, as_size(view.nonzeros), precond_item);
        buffer<T> values(device, as_size(view.nonzeros), precond_item);
        device->copy(offsets.data(), view.offsets, offsets.size() * sizeof(std::int64_t));
        if (view.nonzeros != 0)
            device->copy(indices.data(), view.indices, indices.size() * sizeof(std::int32_t));
        visit_rows(*device, view.rows, 1,
                   coupling_step<T>{{},
                                    aggregation::rows_of(a, rank),
                                    view.values,
                                    roots[as_size(rank)].data(),
                                    floor,
                                    values.data()});
        return device_csr<T>(device, a.columns_of(rank).count(), std::move(offsets),
                             std::move(indices), std::move(values));
    });
    const auto columns = a.all_columns();
    const distributed_csr<T> b(comm, a.row_owners(), a.column_owners(), std::move(blocks),
                               {columns.begin(), columns.end()});
    distributed_csr<T> square;
    const distributed_spgemm<T> plan(b, b, square);
    return square;
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template distributed_csr<T> squared_couplings(const distributed_csr<T>&, double);              \
    template class inverse_matrix<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
