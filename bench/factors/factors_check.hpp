// Whether factors without fill are what defines them, by plain loops on the host.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/matrix/csr.hpp>
#include <krylith/partition/row_partition.hpp>

namespace krylith::bench {

/// Returns max |(L U)_ij - a_ij| / max |a_ij| over the entries of up to a thousand rows, evenly
/// spread, of the block of A with the rows and columns `owned`; entries that are not of A count as
/// a_ij = 0. `both` holds L without its diagonal of ones and U, by place; order[place] is the row
/// of the block, or places are rows where it is empty. NaN where the factors have one.
[[nodiscard]] double error_of_factors(const csr_matrix<double>& a, row_range owned,
                                      const csr_matrix<double>& both,
                                      const std::vector<std::int32_t>& order);

} // namespace krylith::bench
