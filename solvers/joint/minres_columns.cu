// The passes of MINRES for several right-hand sides on GPUs.
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/minres_columns.hpp>

namespace krylith::cuda {

using minres_diagonal = minres_columns<false>;
using minres_applied = minres_columns<true>;

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct column_passes<                                                                 \
        T, minres_parts::multiply, minres_diagonal::start<false>, minres_diagonal::start<true>,    \
        minres_diagonal::lanczos, minres_diagonal::turn, minres_applied::start<false>,             \
        minres_applied::start<true>, minres_applied::lanczos, minres_applied::turn,                \
        normalise<minres_parts, residual_squares, minres_applied::v, minres_applied::u>,           \
        normalise<minres_parts, own_squares<minres_applied::qq>, minres_applied::q,                \
                  minres_applied::u>,                                                              \
        minres_applied::open, minres_applied::measure>;                                            \
    template struct column_tests<T, minres_diagonal, minres_applied>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
