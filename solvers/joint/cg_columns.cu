// The passes of CG for several right-hand sides on GPUs.
#include <krylith/solvers/joint/cg_columns.hpp>
#include <krylith/solvers/joint/column_pass.cuh>

namespace krylith::cuda {

using cg_diagonal = cg_columns<false>;
using cg_applied = cg_columns<true>;

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct column_passes<                                                                 \
        T, cg_parts::multiply, cg_diagonal::start<false>, cg_diagonal::start<true>,                \
        cg_diagonal::subtract, cg_applied::start<false>, cg_applied::start<true>,                  \
        cg_applied::subtract, cg_diagonal::advance,                                                \
        normalise<cg_parts, residual_squares, cg_applied::r, cg_applied::q>, cg_applied::settle,   \
        cg_applied::measure<false>, cg_applied::measure<true>, cg_applied::turn>;                  \
    template struct column_tests<T, cg_diagonal, cg_applied>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
