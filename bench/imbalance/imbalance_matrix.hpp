// Matrices whose blocks of equal rows carry two kinds of load (figure 6 of arXiv:2209.07552).
#pragma once

#include <cstdint>

#include <krylith/matrix/csr.hpp>

namespace krylith::bench {

struct two_loads {
    std::int64_t rows = 0;
    std::int64_t nnz = 0; ///< about so many: rows have whole entries
    int blocks = 1;       ///< of equal rows
    int light = 0;        ///< the number of light ones, which come first
    double ratio = 1;     ///< nonzeros of a row of a light block over those of another, 0 to 1
};

/// The nonzeros of the block with the most over their mean: the slowdown by equal rows of a kernel
/// whose time is proportional to nonzeros.
[[nodiscard]] double expected_slowdown(const two_loads& load);

/// Makes the matrix. Columns of a row stand side by side, around its own: x is read from the
/// caches, so that time is that of the nonzeros. Throws usage_error unless rows, nnz >= 1, 0 <=
/// light < blocks <= rows, and 0 < ratio <= 1, or where a row would be longer than rows.
[[nodiscard]] csr_matrix<double> make_two_loads(const two_loads& load);

} // namespace krylith::bench
