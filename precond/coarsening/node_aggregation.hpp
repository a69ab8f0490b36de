// Smoothed aggregation of nodes with several near-null vectors: what smoothed_aggregation does
// where a node has more than one row, or there is more than one vector.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <krylith/precond/coarsening/aggregation_parts.hpp>
#include <krylith/precond/coarsening/smoothed_aggregation.hpp>

namespace krylith::aggregation {

/// Functions are those of smoothed_aggregation. Its checks are made there.
template <class T>
class node_aggregation {
public:
    node_aggregation(const distributed_csr<T>& a, const aggregation_options& options);

    [[nodiscard]] const row_partition& coarse() const noexcept { return coarse_; }
    [[nodiscard]] distributed_csr<T> prolongation(const distributed_csr<T>& a,
                                                  std::span<const T* const> near_null);
    void refresh(const distributed_csr<T>& a, std::span<const T* const> near_null,
                 distributed_csr<T>& p);
    void know_bound(double bound) { options_.known_bound = bound; }
    [[nodiscard]] const T* coarse_near_null(int rank) const noexcept;
    void fill_dropped(distributed_csr<T>& coarse) const;
    [[nodiscard]] std::int64_t bytes() const noexcept;

private:
    struct pattern {
        buffer<std::int64_t> offsets; ///< [nodes + 1]
        buffer<std::int32_t> aggregates;
    };

    [[nodiscard]] const distributed_csr<T>& nodes(const distributed_csr<T>& a) const {
        return options_.block_size == 1 ? a : nodes_;
    }
    void find_diagonal(const distributed_csr<T>& a);
    [[nodiscard]] std::vector<buffer<T>> tentative(const distributed_csr<T>& a,
                                                   std::span<const T* const> near_null);
    void find_pattern(const distributed_csr<T>& a, int rank);
    void fill(const distributed_csr<T>& a, const buffer<T>& tentative, int rank, T* values) const;

    aggregation_options options_;
    communicator comm_;
    distributed_csr<T> nodes_;        ///< empty where nodes are rows
    exchange ghosts_;                 ///< of the columns of A
    rank_parts<T> parts_;             ///< of nodes
    std::vector<buffer<T>> diagonal_; ///< [rank], of rows
    std::vector<pattern> patterns_;
    row_partition aggregates_;
    row_partition coarse_;
    double bound_ = 1;
};

} // namespace krylith::aggregation
