// The rows of a matrix that classical coarsening takes for the next level.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <krylith/device/loops/visit_rows.hpp>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/distributed/distributed_csr.hpp>
#include <krylith/distributed/products/exchange_of_ghosts.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/partition/row_partition.hpp>
#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/rank_rows.hpp>

namespace krylith::classical {

inline constexpr const char* memory_item = "classical coarsening";

struct coarse_rows {
    row_partition owners;                        ///< of the next level's unknowns
    std::vector<buffer<std::uint8_t>> couplings; ///< [rank][nonzeros] what influences what
    /// [rank][local columns] the number of a coarse row on its level; no_number, or left_out.
    std::vector<buffer<std::int32_t>> number;

    template <class T>
    [[nodiscard]] aggregation::rank_rows rows_of(const distributed_csr<T>& a, std::size_t r) const {
        aggregation::rank_rows rows = aggregation::rows_of(a, static_cast<int>(r));
        rows.couplings = couplings[r].data();
        return rows;
    }
};

/// Finds them by rounds of a parallel modified independent set. near_null[rank] is a vector v, not
/// 0, on the rows of a rank. The host waits 2 times and more.
template <class T>
[[nodiscard]] coarse_rows find_coarse_rows(const distributed_csr<T>& a, const exchange& ghosts,
                                           std::span<const T* const> near_null, T threshold);

/// The mean entries of a row on all ranks: it decides in which order lanes add up a row, which has
/// to be the same on any number of ranks.
template <class T>
[[nodiscard]] std::int64_t mean_of_all(const distributed_csr<T>& a) {
    return (a.nonzeros() + a.rows() - 1) / std::max<std::int64_t>(a.rows(), 1);
}

/// Makes an array on the device of each local rank, [ranks].
template <class V, class Size>
[[nodiscard]] std::vector<buffer<V>> arrays_of(const communicator& comm, const Size& size) {
    return by_rank(comm, [&](int rank) {
        return buffer<V>(comm.handle(rank), as_size(size(rank)), memory_item);
    });
}

/// Enqueues the step make(rank) for all rows of each rank.
template <class T, class Make>
void visit_all(const distributed_csr<T>& a, std::int64_t mean, const Make& make) {
    for (const int rank : a.comm().local())
        visit_rows(a.comm()[rank], a.block(rank).rows(), mean, make(as_size(rank)));
}

} // namespace krylith::classical
