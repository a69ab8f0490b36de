// What smoothed aggregation keeps of each rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/precond/coarsening/aggregate_array.hpp>
#include <krylith/precond/coarsening/exchange_of_aggregates.hpp>
#include <krylith/precond/coarsening/grid_boxes.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

namespace krylith::aggregation {

inline constexpr const char* memory_item = "aggregation";

template <class T>
struct rank_part {
    buffer<std::uint8_t> couplings; ///< [nonzeros]
    buffer<std::int32_t> aggregate; ///< [local columns]
    buffer<T> filtered;             ///< [rows] the diagonal of A_F
    row_range used{};               ///< has the aggregates of other ranks that rows refer to
    /// The near-null vectors of the latest P, right on the rank's own aggregates.
    aggregate_array<T> coarse;

    /// Gives `coarse` room for so many numbers of each aggregate, if it has another.
    void make_coarse(const std::shared_ptr<device>& device, row_range aggregates,
                     std::int64_t numbers) {
        if (!coarse.is_of(aggregates, numbers)) coarse = {device, aggregates, numbers, memory_item};
    }
};

/// [ranks]; those of other drivers' ranks are empty.
template <class T>
using rank_parts = std::vector<rank_part<T>>;

/// The rows of a rank, as steps take them, without couplings.
template <class T>
[[nodiscard]] rank_rows rows_of(const distributed_csr<T>& a, int rank) {
    const device_csr_view<T> view = a.block(rank).view();
    return {view.rows, view.offsets, view.indices, nullptr, a.columns_of(rank).numbers()};
}

template <class T>
[[nodiscard]] rank_rows rows_of(const distributed_csr<T>& a, const rank_part<T>& part, int rank) {
    rank_rows rows = rows_of(a, rank);
    rows.couplings = part.couplings.data();
    return rows;
}

/// The mean number of entries of a row of a rank.
template <class T>
[[nodiscard]] std::int64_t mean_entries(const distributed_csr<T>& a, int rank) {
    const std::int64_t rows = a.block(rank).rows();
    return rows == 0 ? 0 : (a.block(rank).nonzeros() + rows - 1) / rows;
}

/// What becomes of an entry.
struct strength_rule {
    double theta = 0; ///< times sqrt(|a_ii a_jj|): an entry of at least this is a coupling
    /// An entry that is none stays in A_F where |a_ij v_j| is at least this times |a_ii v_i|: the
    /// near-null vector v is smoothed across it, though it is weak from the other side, as where a
    /// coefficient jumps.
    double large = std::numeric_limits<double>::infinity();
    /// Whether rows that have a direction (row_extremes) have couplings along it alone. Positive
    /// entries of these are in no A_F.
    bool directions = false;
};
inline constexpr double large_in_row_from = 0.02;

struct strength_facts {
    double bound = 1;            ///< the largest Gershgorin bound of D_F^-1 A_F; 1 without rows
    std::int64_t undirected = 0; ///< about so many rows have no direction, if that is asked
};

/// Couplings, and the filtered matrix. near_null[rank] is a vector v on the rank's rows; what A_F
/// lacks then goes to the diagonal so that A_F v = A v. Where there is none v = 1. states[rank]
/// becomes what is known of each local column.
template <class T>
[[nodiscard]] strength_facts
find_strength(const distributed_csr<T>& a, const strength_rule& rule, const exchange& ghosts,
              std::span<const T* const> near_null, rank_parts<T>& parts,
              std::vector<buffer<std::uint8_t>>& states);

/// Filters other values by the couplings; returns the bound.
template <class T>
[[nodiscard]] double filter_again(const distributed_csr<T>& a, const exchange& ghosts,
                                  std::span<const T* const> near_null, rank_parts<T>& parts);

/// Finds the aggregate of each local column by two independent sets, joined in pairs where
/// `in_pairs`, and what ranks use of those of others; returns who owns aggregates.
template <class T>
[[nodiscard]] row_partition
find_aggregates(const distributed_csr<T>& a, const exchange& ghosts, rank_parts<T>& parts,
                std::vector<buffer<std::uint8_t>> states, bool in_pairs);

/// Finds the boxes that are to be the aggregates of a grid, all points of which are coupled with
/// those next to them along the same two or three axes; nullopt where rows are not the points of
/// such a grid. Waits for the devices.
template <class T>
[[nodiscard]] std::optional<grid_boxes> find_boxes(const distributed_csr<T>& a,
                                                   const rank_parts<T>& parts);

/// Makes boxes the aggregates; returns who owns them, which is who owns their first points.
template <class T>
[[nodiscard]] row_partition take_boxes(const distributed_csr<T>& a, const grid_boxes& boxes,
                                       rank_parts<T>& parts);

/// Joins aggregates in pairs; returns who owns them.
template <class T>
[[nodiscard]] row_partition pair_aggregates(const distributed_csr<T>& a, rank_parts<T>& parts,
                                            const row_partition& aggregates);

/// Finds what rank_part::used says, of rows' aggregates. Waits for the devices.
template <class T>
void find_used(const distributed_csr<T>& a, const row_partition& aggregates, rank_parts<T>& parts);

/// The exchange of what ranks have of all aggregates. Collective.
template <class T>
[[nodiscard]] exchange exchange_of_aggregates(const communicator& comm,
                                              const row_partition& aggregates,
                                              const rank_parts<T>& parts) {
    std::vector<row_range> used;
    for (const rank_part<T>& part : parts) used.push_back(part.used);
    return exchange_of_aggregates(comm, aggregates, std::move(used));
}

/// Makes T on all local columns, and the norms of aggregates.
template <class T>
[[nodiscard]] std::vector<buffer<T>>
make_tentative(const distributed_csr<T>& a, const exchange& ghosts, rank_parts<T>& parts,
               const row_partition& aggregates, std::span<const T* const> near_null);

/// v[rank], on the rank's rows, by the local columns of A; nothing where there is no v. Enqueued.
template <class T>
[[nodiscard]] std::vector<buffer<T>>
by_local_columns(const distributed_csr<T>& a, const exchange& ghosts, std::span<const T* const> v);

/// The partition of what ranks have counted: the last number of sums[rank] is that of the rank.
/// Collective; waits for the devices.
[[nodiscard]] inline row_partition owners_of_last(const communicator& comm,
                                                  const std::vector<buffer<std::int32_t>>& sums) {
    auto counts = by_rank(comm, [&](int rank) {
        const auto& of_rank = sums[static_cast<std::size_t>(rank)];
        std::int32_t count = 0;
        comm[rank].download(&count, of_rank.data() + of_rank.size() - 1, sizeof count);
        return count;
    });
    comm.all_gather(counts);
    row_partition owners;
    for (const std::int32_t count : counts) owners.begin.push_back(owners.begin.back() + count);
    return owners;
}

} // namespace krylith::aggregation
