// Checks of graph algorithms without running one: distances are those of shortest paths if no edge
// is a short cut and each is explained by one (and edges have lengths above 0: a cycle of others
// would explain itself). O(edges).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

/// Returns what is wrong; empty if nothing is. Vertices that are not reached are at infinity, on
/// level -1.
[[nodiscard]] std::string check_levels(const csr_matrix<float>& a, std::int64_t source,
                                       std::span<const std::int32_t> levels);
[[nodiscard]] std::string check_distances(const csr_matrix<float>& a, std::int64_t source,
                                          std::span<const float> distances);
/// Checks ranks by a step of the power method, which changes them by twice their error at most.
/// `bound` is the bound of their error; rounding of fp32 is allowed for.
[[nodiscard]] std::string check_ranks(const csr_matrix<float>& a, double damping,
                                      std::span<const float> ranks, double bound);

} // namespace krylith::bench
