// New orders of the rows and columns of a square matrix that bring coupled rows together: fewer
// ghosts, and x found in the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krylith {

struct symmetric_graph;

/// A bijection of 0 .. n - 1, in both directions. Any values can be stored; check() says whether
/// they are one.
struct permutation {
    std::vector<std::int32_t> source; ///< [new place]: the old one
    std::vector<std::int32_t> place;  ///< [old place]: the new one

    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }

    friend bool operator==(const permutation&, const permutation&) = default;
};

/// Throws usage_error naming the first place where the two are not inverse to each other. O(n).
void check(const permutation& order);

/// Reverse Cuthill-McKee (Cuthill and McKee, ACM National Conference 1969; George, Liu, Computer
/// Solution of Large Sparse Positive Definite Systems, 1981, chapter 4) numbers each component of
/// the graph of A + A' by levels from a pseudo-peripheral vertex (George, Liu, ACM TOMS 5(3),
/// 1979), neighbours by degree, then reverses the whole order. Entries couple neighbours only, so
/// the bandwidth is at most that of two consecutive levels. The order is the same on every machine.
/// The arrays are those of a valid square CSR matrix of n rows. O(nnz log(most in a row)), by one
/// thread; memory 4 bytes for each entry of A + A', 8 for each of A, and 40 n.
[[nodiscard]] permutation reverse_cuthill_mckee(std::span<const std::int64_t> row_offsets,
                                                std::span<const std::int32_t> column_indices);
/// Orders a graph that exists already in the same way.
[[nodiscard]] permutation reverse_cuthill_mckee(const symmetric_graph& graph);

/// The largest |row - column| of an entry, after rows and columns have moved to `order.place`.
/// O(nnz).
[[nodiscard]] std::int64_t bandwidth(std::span<const std::int64_t> row_offsets,
                                     std::span<const std::int32_t> column_indices,
                                     const permutation& order);
/// The largest |row - column| of an entry of the matrix as it is. O(nnz).
[[nodiscard]] std::int64_t bandwidth(std::span<const std::int64_t> row_offsets,
                                     std::span<const std::int32_t> column_indices);

} // namespace krylith
