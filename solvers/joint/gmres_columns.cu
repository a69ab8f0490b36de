// The passes of GMRES for several right-hand sides on GPUs, but for those over its basis.
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/gmres_columns.hpp>

namespace krylith::cuda {

using gmres_diagonal = gmres_columns<false>;
using gmres_applied = gmres_columns<true>;

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct column_passes<                                                                 \
        T, gmres_parts::multiply, gmres_diagonal::start<false>, gmres_diagonal::start<true>,       \
        gmres_applied::start<false>, gmres_applied::start<true>,                                   \
        normalise<gmres_parts, residual_squares, gmres_applied::v, gmres_applied::w>,              \
        normalise<gmres_parts, own_squares<column_cycle_places::found>, gmres_applied::w,          \
                  gmres_applied::v>,                                                               \
        gmres_applied::stretch, gmres_applied::measure, gmres_applied::add>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
