// The ways of coarsening as a table: what a hierarchy does where they differ. level_coarsening.cpp
// makes them.
#pragma once

#include <string_view>

#include <krylith/precond/amg.hpp>

namespace krylith::detail {

struct coarsening_method {
    multigrid_coarsening kind;
    std::string_view name;
    /// For nodes of several rows, several near-null vectors, and matrices that are not symmetric.
    bool of_nodes;
    /// A coarse level of more than this fraction of the rows is none.
    double most_rows;
    /// Where a coarse matrix has more than this times the nonzeros of A, or all of them together
    /// have, coarse levels would cost more than they bring: matrices without locality, as of random
    /// graphs, fill up.
    double most_level;
    double most_together;
    double drop; ///< times amg_options::drop
    /// Where coarse matrices fill up, a P that is not smoothed stands in; else another method does,
    /// from the first level on.
    bool has_unsmoothed;
};

namespace coarsening_rows {
inline constexpr coarsening_method aggregation = {
    .kind = multigrid_coarsening::aggregation,
    .name = "aggregation",
    .of_nodes = true,
    .most_rows = 1 / 1.7,
    .most_level = 1,
    .most_together = 2,
    .drop = 1,
    .has_unsmoothed = true,
};
/// It keeps about half of the rows of a graph with few edges, and makes up for what it fills in.
inline constexpr coarsening_method classical = {
    .kind = multigrid_coarsening::classical,
    .name = "classical",
    .of_nodes = false,
    .most_rows = 0.8,
    .most_level = 2,
    .most_together = 4,
    .drop = 0.125,
    .has_unsmoothed = false,
};
inline constexpr const coarsening_method* all[] = {&aggregation, &classical};
} // namespace coarsening_rows

} // namespace krylith::detail
