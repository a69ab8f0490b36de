#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/coarsening/node_aggregation.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/make_factors.hpp>
#include <krylith/precond/coarsening/near_null_steps.hpp>
#include <krylith/precond/coarsening/node_matrix.hpp>
#include <krylith/precond/coarsening/node_prolongation_steps.hpp>
#include <krylith/precond/coarsening/node_steps.hpp>
#include <krylith/precond/coarsening/rank_numbers.hpp>

namespace krylith::aggregation {

namespace {

row_partition times(row_partition of, std::int64_t factor) {
    for (std::int64_t& begin : of.begin) begin *= factor;
    return of;
}

} // namespace

template <class T>
node_aggregation<T>::node_aggregation(const distributed_csr<T>& a,
                                      const aggregation_options& options)
    : options_(options),
      comm_(a.comm()),
      nodes_(options.block_size == 1 ? distributed_csr<T>()
                                     : make_node_matrix(a, options.block_size)),
      ghosts_(exchange_of_ghosts(a)) {
    check_index_size("smoothed_aggregation: the number of entries of the near-null vectors",
                     a.columns() * options.vectors);
    const distributed_csr<T>& of_nodes = nodes(a);
    const exchange ghosts = exchange_of_ghosts(of_nodes);
    std::vector<buffer<std::uint8_t>> states;
    (void)find_strength(of_nodes, {options.theta}, ghosts, {}, parts_, states);
    aggregates_ = find_aggregates(of_nodes, ghosts, parts_, std::move(states), options.aggressive);
    coarse_ = times(aggregates_, options.vectors);
    diagonal_ = by_rank(comm_, [&](int rank) {
        return buffer<T>(comm_.handle(rank), as_size(a.block(rank).rows()), memory_item);
    });
    find_diagonal(a);
}

/// Finds the diagonal of A, and what bounds D^-1 A.
template <class T>
void node_aggregation<T>::find_diagonal(const distributed_csr<T>& a) {
    const rank_numbers<unsigned long long> bounds(comm_, 1, memory_item);
    for (const int rank : comm_.local())
        visit_rows(comm_[rank], a.block(rank).rows(), mean_entries(a, rank),
                   bound_rows_step<T>{rows_of(a, rank),
                                      a.block(rank).view().values,
                                      {nullptr, diagonal_[as_size(rank)].data(), bounds.of(rank)}});
    bound_ = 1;
    for (const auto& bound : bounds.of_all())
        bound_ = std::max(bound_, std::bit_cast<double>(bound.front()));
}

template <class T>
std::vector<buffer<T>> node_aggregation<T>::tentative(const distributed_csr<T>& a,
                                                      std::span<const T* const> near_null) {
    auto result = make_factors(a, nodes(a), parts_, aggregates_, options_, near_null);
    ghosts_.fetch(result, options_.vectors);
    return result;
}

template <class T>
void node_aggregation<T>::find_pattern(const distributed_csr<T>& a, int rank) {
    const auto& device = comm_.handle(rank);
    const rank_part<T>& part = parts_[as_size(rank)];
    const std::int64_t count = nodes(a).block(rank).rows();
    const reached_aggregates reached{rows_of(nodes(a), part, rank), part.aggregate.data(),
                                     options_.smooth};
    pattern& found = patterns_[as_size(rank)];
    found.offsets = {device, as_size(count + 1), memory_item};
    {
        const buffer<std::int32_t> counts(device, as_size(count), memory_item);
        visit_rows(*device, count, 1, count_reached_step{{}, reached, counts.data()});
        add_up_sizes(device, count, counts.data(), found.offsets.data());
    }
    std::int64_t entries = 0;
    device->download(&entries, found.offsets.data() + count, sizeof entries);
    found.aggregates = {device, as_size(entries), memory_item};
    visit_rows(*device, count, 1,
               list_reached_step{{}, reached, found.offsets.data(), found.aggregates.data()});
}

template <class T>
void node_aggregation<T>::fill(const distributed_csr<T>& a, const buffer<T>& tentative, int rank,
                               T* values) const {
    const rank_part<T>& part = parts_[as_size(rank)];
    const pattern& known = patterns_[as_size(rank)];
    const double lambda =
        options_.known_bound > 0 ? std::min(bound_, options_.known_bound) : bound_;
    visit_rows(
        comm_[rank], a.block(rank).rows() * options_.vectors, 1,
        fill_prolongation_step<T>{
            {},
            node_rows_of(a, nodes(a), rank, options_.block_size),
            a.block(rank).view().values,
            {rows_of(nodes(a), part, rank), part.aggregate.data(), options_.smooth},
            {known.offsets.data(), known.aggregates.data(), options_.block_size, options_.vectors},
            diagonal_[as_size(rank)].data(),
            tentative.data(),
            static_cast<T>(4 / (3 * lambda)),
            values});
}

template <class T>
distributed_csr<T> node_aggregation<T>::prolongation(const distributed_csr<T>& a,
                                                     std::span<const T* const> near_null) {
    const auto columns_of_t = tentative(a, near_null);
    patterns_.resize(as_size(comm_.ranks()));
    std::vector<device_csr<T>> blocks(as_size(comm_.ranks()));
    std::vector<local_columns> columns_of(as_size(comm_.ranks()));
    on_each_rank(comm_, [&](int rank) {
        const auto& device = comm_.handle(rank);
        find_pattern(a, rank);
        const pattern& known = patterns_[as_size(rank)];
        const std::int64_t rows = a.block(rank).rows();
        const std::size_t entries =
            known.aggregates.size() * as_size(options_.block_size) * as_size(options_.vectors);
        buffer<std::int64_t> offsets(device, as_size(rows + 1), "offsets of a matrix");
        buffer<std::int32_t> columns(device, entries, "columns of a matrix");
        buffer<T> values(device, entries, "values of a matrix");
        visit_rows(*device, rows + 1, 1,
                   spread_pattern_step{{},
                                       {known.offsets.data(), known.aggregates.data(),
                                        options_.block_size, options_.vectors},
                                       rows,
                                       offsets.data(),
                                       columns.data()});
        fill(a, columns_of_t[as_size(rank)], rank, values.data());
        columns_of[as_size(rank)] =
            comm_.ranks() == 1
                ? local_columns(device, coarse_.owned(rank), {})
                : number_columns(device, coarse_.owned(rank), coarse_.rows(), columns).value();
        blocks[as_size(rank)] = {device, columns_of[as_size(rank)].count(), std::move(offsets),
                                 std::move(columns), std::move(values)};
    });
    return {comm_, a.row_owners(), coarse_, std::move(blocks), std::move(columns_of)};
}

template <class T>
void node_aggregation<T>::refresh(const distributed_csr<T>& a, std::span<const T* const> near_null,
                                  distributed_csr<T>& p) {
    find_diagonal(a);
    const auto columns_of_t = tentative(a, near_null);
    for (const int rank : comm_.local())
        fill(a, columns_of_t[as_size(rank)], rank, p.block(rank).values());
}

template <class T>
const T* node_aggregation<T>::coarse_near_null(int rank) const noexcept {
    return parts_[as_size(rank)].coarse.data() + coarse_.begin[as_size(rank)] * options_.vectors;
}

template <class T>
void node_aggregation<T>::fill_dropped(distributed_csr<T>& coarse) const {
    for (const int rank : comm_.local()) {
        const device_csr_view<T> view = coarse.block(rank).view();
        visit_rows(comm_[rank], view.rows, 1,
                   fill_dropped_step<T>{{},
                                        rows_of(coarse, rank),
                                        coarse_near_null(rank),
                                        options_.vectors,
                                        coarse.block(rank).values()});
    }
}

template <class T>
std::int64_t node_aggregation<T>::bytes() const noexcept {
    std::size_t most = 0;
    for (std::size_t r = 0; r < parts_.size(); ++r) {
        const auto& part = parts_[r];
        std::size_t sum =
            part.couplings.size() + part.aggregate.size() * sizeof(std::int32_t) +
            (part.filtered.size() + part.coarse.size() + diagonal_[r].size()) * sizeof(T);
        if (r < patterns_.size())
            sum += patterns_[r].offsets.size() * sizeof(std::int64_t) +
                   patterns_[r].aggregates.size() * sizeof(std::int32_t);
        most = std::max(most, sum);
    }
    return static_cast<std::int64_t>(most) + (options_.block_size == 1 ? 0 : nodes_.bytes());
}

#define KRYLITH_INSTANTIATE(T) template class node_aggregation<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation
