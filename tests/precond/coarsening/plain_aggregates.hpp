// Aggregates by plain loops over whole matrices: the oracle of smoothed aggregation.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::testing {

/// What smoothed_aggregation should find.
struct plain_aggregates {
    std::vector<std::int32_t> aggregate;           ///< of each row, -1: none
    std::vector<std::int64_t> roots;               ///< the lowest root of each aggregate, ascending
    std::vector<std::vector<std::int64_t>> strong; ///< neighbours of each row
    std::vector<bool> first_root;                  ///< of the first independent set
};

template <class T>
[[nodiscard]] plain_aggregates find_plain_aggregates(const csr_matrix<T>& a, double theta,
                                                     bool aggressive);

} // namespace krylith::testing
