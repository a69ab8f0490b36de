#include <krylith/device/loops/running_sums.hpp>
#include <krylith/precond/amg/sparsification.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include <krylith/comm/local/each_rank.hpp>
#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/precond/amg/local_vectors.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/sparsified_rows.hpp>
#include <krylith/precond/coarsening/sparsify_steps.hpp>
#include <krylith/precond/matrix/memory_item.hpp>

namespace krylith::detail {

namespace {

constexpr double worth_it = 0.9; ///< of the entries

/// Vectors of a coarse level by the local columns of its matrix.
template <class W>
struct coarse_vectors {
    std::vector<buffer<W>> v;
    std::vector<buffer<W>> weights;
};

/// v, and the place of weights.
template <class W>
coarse_vectors<W> vectors_of(const distributed_csr<W>& coarse, const coarsening<W>& to_next) {
    const auto array = [&](int rank) {
        return buffer<W>(coarse.comm().handle(rank), as_size(coarse.columns_of(rank).count()),
                         precond_item);
    };
    coarse_vectors<W> result{by_rank(coarse.comm(), array), by_rank(coarse.comm(), array)};
    for (const int rank : coarse.comm().local()) {
        const local_columns& columns = coarse.columns_of(rank);
        const auto owned = as_size(columns.owned().size());
        if (owned != 0)
            coarse.comm()[rank].copy(result.v[as_size(rank)].data() + columns.first_owned(),
                                     to_next.coarse_near_null(rank), owned * sizeof(W));
    }
    exchange_of_ghosts(coarse).fetch(result.v);
    return result;
}

/// Gives each coarse row v times its diagonal entry, or 0 where rows that it restricts are `found`.
template <class W>
void weigh(const distributed_csr<W>& coarse, const distributed_csr<W>& r,
           const std::vector<buffer<std::uint8_t>>& found, coarse_vectors<W>& vectors) {
    for (const int rank : coarse.comm().local())
        visit_rows(coarse.comm()[rank], coarse.block(rank).rows(),
                   aggregation::mean_entries(r, rank),
                   aggregation::row_weight_step<W>{
                       aggregation::rows_of(r, rank), found[as_size(rank)].data(),
                       aggregation::rows_of(coarse, rank), coarse.block(rank).view().values,
                       vectors.v[as_size(rank)].data(), vectors.weights[as_size(rank)].data()});
    exchange_of_ghosts(coarse).fetch(vectors.weights);
}

/// The rows of B that have small entries, by the local columns of R.
template <class W>
std::vector<buffer<std::uint8_t>>
rows_with_small_entries(const distributed_csr<W>& b, double diagonal,
                        const std::vector<buffer<W>>& near_null, const distributed_csr<W>& r,
                        double drop) {
    const std::vector<buffer<W>> v = by_local_columns(b, near_null);
    auto found = by_rank(b.comm(), [&](int rank) {
        const local_columns& columns = r.columns_of(rank);
        buffer<std::uint8_t> rows(b.comm().handle(rank), as_size(columns.count()), precond_item);
        visit_rows(b.comm()[rank], b.block(rank).rows(), aggregation::mean_entries(b, rank),
                   aggregation::small_entries_step<W>{aggregation::rows_of(b, rank),
                                                      b.block(rank).view().values,
                                                      v[as_size(rank)].data(), diagonal, drop,
                                                      rows.data() + columns.first_owned()});
        return rows;
    });
    exchange_of_ghosts(r).fetch(found);
    return found;
}

template <class W>
aggregation::sparsified_rows<W> sparsified_rows_of(const distributed_csr<W>& galerkin, int rank,
                                                   const coarse_vectors<W>& vectors, double drop,
                                                   std::uint8_t* kept) {
    return {aggregation::rows_of(galerkin, rank),
            galerkin.block(rank).view().values,
            vectors.v[as_size(rank)].data(),
            vectors.weights[as_size(rank)].data(),
            drop,
            kept,
            aggregation::mean_entries(galerkin, rank)};
}

} // namespace

template <class W>
sparsification<W>::sparsification(const distributed_csr<W>& b, double diagonal,
                                  const std::vector<buffer<W>>& near_null,
                                  const distributed_csr<W>& r, const coarsening<W>& to_next,
                                  const distributed_csr<W>& galerkin, double drop,
                                  distributed_csr<W>& sparse)
    : pattern_(galerkin.without_values()), drop_(drop) {
    const communicator& comm = galerkin.comm();
    coarse_vectors<W> vectors = vectors_of(galerkin, to_next);
    weigh(galerkin, r, rows_with_small_entries(b, diagonal, near_null, r, drop), vectors);

    std::vector<buffer<std::int64_t>> offsets(as_size(comm.ranks()));
    std::vector<std::int64_t> entries(as_size(comm.ranks()));
    kept_.resize(as_size(comm.ranks()));
    on_each_rank(comm, [&](int rank) {
        const auto& device = comm.handle(rank);
        const std::int64_t rows = galerkin.block(rank).rows();
        buffer<std::uint8_t>& kept = kept_[as_size(rank)];
        kept = {device, as_size(galerkin.block(rank).nonzeros()), precond_item};
        offsets[as_size(rank)] = {device, as_size(rows + 1), "offsets of a matrix"};
        const buffer<std::int32_t> counts(device, as_size(rows), precond_item);
        aggregation::find_kept(*device,
                               sparsified_rows_of(galerkin, rank, vectors, drop_, kept.data()),
                               counts.data());
        add_up_sizes(device, rows, counts.data(), offsets[as_size(rank)].data());
        device->download(&entries[as_size(rank)], offsets[as_size(rank)].data() + rows,
                         sizeof(std::int64_t));
    });
    comm.all_gather(entries);
    const std::int64_t all = std::accumulate(entries.begin(), entries.end(), std::int64_t{0});
    if (static_cast<double>(all) > worth_it * static_cast<double>(galerkin.nonzeros())) return;

    std::vector<device_csr<W>> blocks(as_size(comm.ranks()));
    for (const int rank : comm.local()) {
        const auto& device = comm.handle(rank);
        const device_csr<W>& from = galerkin.block(rank);
        const auto count = as_size(entries[as_size(rank)]);
        buffer<std::int32_t> indices(device, count, "columns of a matrix");
        buffer<W> values(device, count, "values of a matrix");
        aggregation::fill_kept(
            *device,
            sparsified_rows_of(galerkin, rank, vectors, drop_, kept_[as_size(rank)].data()),
            offsets[as_size(rank)].data(), indices.data(), values.data());
        blocks[as_size(rank)] = {device, from.columns(), std::move(offsets[as_size(rank)]),
                                 std::move(indices), std::move(values)};
        blocks[as_size(rank)].set_ascending(from.ascends());
    }
    sparse = {
        comm, galerkin.row_owners(), galerkin.column_owners(), std::move(blocks),
        std::vector<local_columns>(galerkin.all_columns().begin(), galerkin.all_columns().end())};
}

template <class W>
void sparsification<W>::refresh(const coarsening<W>& to_next, const distributed_csr<W>& galerkin,
                                distributed_csr<W>& sparse) const {
    const communicator& comm = galerkin.comm();
    coarse_vectors<W> vectors = vectors_of(galerkin, to_next);
    for (const int rank : comm.local())
        visit_rows(comm[rank], galerkin.block(rank).rows(), 1,
                   aggregation::row_weight_step<W>{{},
                                                   nullptr,
                                                   aggregation::rows_of(galerkin, rank),
                                                   galerkin.block(rank).view().values,
                                                   vectors.v[as_size(rank)].data(),
                                                   vectors.weights[as_size(rank)].data()});
    for (const int rank : comm.local())
        aggregation::fill_kept(
            comm[rank],
            sparsified_rows_of(galerkin, rank, vectors, drop_, kept_[as_size(rank)].data()),
            sparse.block(rank).view().offsets, nullptr, sparse.block(rank).values());
}

template <class W>
std::int64_t sparsification<W>::bytes() const noexcept {
    std::size_t most = 0;
    for (const auto& of_rank : kept_) most = std::max(most, of_rank.size());
    return pattern_.bytes() + static_cast<std::int64_t>(most);
}

#define KRYLITH_INSTANTIATE(T) template class sparsification<T>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::detail
