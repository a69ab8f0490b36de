// The passes of GMRES for several right-hand sides on GPUs, but for those over its basis.
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/gmres_columns.hpp>

namespace krylith::cuda {

#define KRYLITH_COLUMN_PASSES(method, T)                                                           \
    template void run_pass<method::start<false>>(device&, const column_arguments<T>&);             \
    template void run_pass<method::start<true>>(device&, const column_arguments<T>&)
#define KRYLITH_APPLIED_PASSES(method, T)                                                          \
    KRYLITH_COLUMN_PASSES(method, T);                                                              \
    template void run_pass<normalise<gmres_parts, residual_squares, method::v, method::w>>(        \
        device&, const column_arguments<T>&);                                                      \
    template void run_pass<                                                                        \
        normalise<gmres_parts, own_squares<column_cycle_places::found>, method::w, method::v>>(    \
        device&, const column_arguments<T>&);                                                      \
    template void run_pass<method::stretch>(device&, const column_arguments<T>&);                  \
    template void run_pass<method::measure>(device&, const column_arguments<T>&);                  \
    template void run_pass<method::add>(device&, const column_arguments<T>&)

using gmres_diagonal = gmres_columns<false>;
using gmres_applied = gmres_columns<true>;

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void run_pass<gmres_parts::multiply>(device&, const column_arguments<T>&);
#include <krylith/device/language/instantiate.inc>
KRYLITH_COLUMN_PASSES(gmres_diagonal, double);
KRYLITH_COLUMN_PASSES(gmres_diagonal, float);
KRYLITH_APPLIED_PASSES(gmres_applied, double);
KRYLITH_APPLIED_PASSES(gmres_applied, float);

#undef KRYLITH_APPLIED_PASSES
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
