// The passes of BiCGStab for several right-hand sides on GPUs.
#include <krylith/solvers/joint/bicgstab_columns.hpp>
#include <krylith/solvers/joint/column_pass.cuh>

namespace krylith::cuda {

#define KRYLITH_COLUMN_PASSES(method, T)                                                           \
    template void run_pass<method::start<false>>(device&, const column_arguments<T>&);             \
    template void run_pass<method::start<true>>(device&, const column_arguments<T>&);              \
    template void run_pass<method::multiply_p>(device&, const column_arguments<T>&);               \
    template void run_pass<method::halve>(device&, const column_arguments<T>&);                    \
    template void run_pass<method::multiply_s>(device&, const column_arguments<T>&);               \
    template void run_pass<method::finish>(device&, const column_arguments<T>&);                   \
    template void run_pass<method::turn>(device&, const column_arguments<T>&);                     \
    template void run_test<method>(device&, const column_arguments<T>&)
#define KRYLITH_APPLIED_PASSES(method, T)                                                          \
    KRYLITH_COLUMN_PASSES(method, T);                                                              \
    template void run_pass<normalise<method, residual_squares, method::p, method::t>>(             \
        device&, const column_arguments<T>&);                                                      \
    template void run_pass<normalise<method, own_squares<method::pp>, method::p, method::t>>(      \
        device&, const column_arguments<T>&);                                                      \
    template void run_pass<normalise<method, own_squares<method::ss>, method::r, method::t>>(      \
        device&, const column_arguments<T>&)

using bicgstab_diagonal = bicgstab_columns<false>;
using bicgstab_applied = bicgstab_columns<true>;

KRYLITH_COLUMN_PASSES(bicgstab_diagonal, double);
KRYLITH_COLUMN_PASSES(bicgstab_diagonal, float);
KRYLITH_APPLIED_PASSES(bicgstab_applied, double);
KRYLITH_APPLIED_PASSES(bicgstab_applied, float);

#undef KRYLITH_APPLIED_PASSES
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
