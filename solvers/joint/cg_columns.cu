// The passes of CG for several right-hand sides on GPUs.
#include <krylith/solvers/joint/cg_columns.hpp>
#include <krylith/solvers/joint/column_pass.cuh>

namespace krylith::cuda {

#define KRYLITH_COLUMN_PASSES(method, T)                                                           \
    template void run_pass<method::start<false>>(device&, const column_arguments<T>&);             \
    template void run_pass<method::start<true>>(device&, const column_arguments<T>&);              \
    template void run_pass<method::subtract>(device&, const column_arguments<T>&);                 \
    template void run_test<method>(device&, const column_arguments<T>&)
#define KRYLITH_OWN_PASSES(method, T)                                                              \
    KRYLITH_COLUMN_PASSES(method, T);                                                              \
    template void run_pass<method::advance>(device&, const column_arguments<T>&)
#define KRYLITH_APPLIED_PASSES(method, T)                                                          \
    KRYLITH_COLUMN_PASSES(method, T);                                                              \
    template void run_pass<normalise<cg_parts, residual_squares, method::r, method::q>>(           \
        device&, const column_arguments<T>&);                                                      \
    template void run_pass<method::settle>(device&, const column_arguments<T>&);                   \
    template void run_pass<method::measure<false>>(device&, const column_arguments<T>&);           \
    template void run_pass<method::measure<true>>(device&, const column_arguments<T>&);            \
    template void run_pass<method::turn>(device&, const column_arguments<T>&)

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void run_pass<cg_parts::multiply>(device&, const column_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

using cg_diagonal = cg_columns<false>;
using cg_applied = cg_columns<true>;

KRYLITH_OWN_PASSES(cg_diagonal, double);
KRYLITH_OWN_PASSES(cg_diagonal, float);
KRYLITH_APPLIED_PASSES(cg_applied, double);
KRYLITH_APPLIED_PASSES(cg_applied, float);

#undef KRYLITH_APPLIED_PASSES
#undef KRYLITH_OWN_PASSES
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
