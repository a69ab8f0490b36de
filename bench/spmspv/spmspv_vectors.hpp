// The sparse vectors that products are timed with: the places of their entries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

enum class vector_kind : std::uint8_t {
    random,  ///< places drawn from all columns, ascending
    frontier ///< the nearest to a random vertex, in the order of a breadth-first search
};

[[nodiscard]] constexpr const char* to_string(vector_kind kind) noexcept {
    return kind == vector_kind::random ? "random" : "frontier";
}

struct test_vector {
    vector_kind kind = vector_kind::random;
    std::vector<std::int32_t> indices;
    bool ascending = true;
};

/// Draws `count` of 0..n-1, all choices equally likely, ascending; the same for the same seed.
/// O(n).
[[nodiscard]] std::vector<std::int32_t> draw_ascending(std::int64_t n, std::int64_t count,
                                                       std::uint64_t seed);

/// Returns the first `count` columns that a search from a random one reaches, by rows that have
/// entries in a column (y = A x is a step); where it ends early another begins. A must be square.
/// O(nnz) time and memory.
[[nodiscard]] std::vector<std::int32_t> breadth_first(const csr_view<float>& a, std::int64_t count,
                                                      std::uint64_t seed);

/// Makes a vector for each kind and each different number of entries round(density columns), at
/// least 1. There are no frontiers of matrices that are not square, and none of all columns beside
/// the random one. There are no vectors for no columns.
[[nodiscard]] std::vector<test_vector> make_vectors(const csr_view<float>& a,
                                                    std::span<const vector_kind> kinds,
                                                    std::span<const double> densities,
                                                    std::uint64_t seed);

} // namespace krylith::bench
