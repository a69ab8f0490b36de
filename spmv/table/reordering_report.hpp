// What a new order of rows has changed.
#pragma once

#include <cstdint>

#include <krylith/spmv/table/row_orders.hpp>

namespace krylith {

/// The cost and the effect of a new order. Ghosts are the entries that all devices together receive
/// for a product with operator halo, whichever operator was built.
struct reordering_report {
    reordering order = orders::none; ///< none: the rest of this report is 0
    double seconds = 0;              ///< time to find the order and to move the matrix
    std::int64_t bandwidth_before = 0;
    std::int64_t bandwidth_after = 0;
    std::int64_t ghosts_before = 0;
    std::int64_t ghosts_after = 0;
};

} // namespace krylith
