// What reports say of a multigrid hierarchy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// A level of a multigrid hierarchy; the first one is A.
struct multigrid_level_facts {
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;
    double bound = 0;   ///< of the eigenvalues of D^-1 A; an estimate on coarse levels
    std::string format; ///< of the level's operator, or "dense inverse"
    /// What the rows of the next level are: "aggregates", "boxes of 2 x 2 x 2", "classical" ...;
    /// empty for the last one.
    std::string next_rows = {};
    /// Why this is the last level although it has too many rows to be inverted; else empty.
    std::string why_last = {};
};

/// The nonzeros of all levels over those of the first; 1 where that has none.
[[nodiscard]] inline double operator_complexity(const std::vector<multigrid_level_facts>& levels) {
    double sum = 0;
    for (const multigrid_level_facts& level : levels) sum += static_cast<double>(level.nonzeros);
    return sum > 0 ? sum / static_cast<double>(levels.front().nonzeros) : 1;
}

/// The rows of all levels over those of the first; 1 where that has none.
[[nodiscard]] inline double grid_complexity(const std::vector<multigrid_level_facts>& levels) {
    double sum = 0;
    for (const multigrid_level_facts& level : levels) sum += static_cast<double>(level.rows);
    return sum > 0 ? sum / static_cast<double>(levels.front().rows) : 1;
}

} // namespace krylith
