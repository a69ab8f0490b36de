// How a team of threads goes through levels: together through wide ones, one thread alone through
// runs of thin ones.
#pragma once

#include <cstdint>
#include <vector>

#include <krylith/sparse/sptrsv/row_chains.hpp>

namespace krylith {

/// A stage is `parts` neighbouring ranges of places, some of which may be empty. Those of a stage
/// don't depend on each other. Range p of stage s is [borders[s * parts + p], the next border).
struct level_stages {
    int parts = 1;
    std::int64_t shared = 0;              ///< rows of stages that several threads solve
    std::vector<std::int64_t> borders{0}; ///< [stages * parts + 1]
};

/// Makes a stage of each level of at least `wide` rows, divided between chains, and one, all in its
/// first range, of each run of others.
[[nodiscard]] level_stages plan_stages(const rows_by_chain& rows, int parts, std::int64_t wide);

} // namespace krylith
