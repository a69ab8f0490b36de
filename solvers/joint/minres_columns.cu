// The passes of MINRES for several right-hand sides on GPUs.
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/minres_columns.hpp>

namespace krylith::cuda {

#define KRYLITH_COLUMN_PASSES(method, T)                                                           \
    template void run_pass<method::start<false>>(device&, const column_arguments<T>&);             \
    template void run_pass<method::start<true>>(device&, const column_arguments<T>&);              \
    template void run_pass<method::lanczos>(device&, const column_arguments<T>&);                  \
    template void run_pass<method::turn>(device&, const column_arguments<T>&);                     \
    template void run_test<method>(device&, const column_arguments<T>&)
#define KRYLITH_APPLIED_PASSES(method, T)                                                          \
    KRYLITH_COLUMN_PASSES(method, T);                                                              \
    template void run_pass<normalise<minres_parts, residual_squares, method::v, method::u>>(       \
        device&, const column_arguments<T>&);                                                      \
    template void                                                                                  \
    run_pass<normalise<minres_parts, own_squares<method::qq>, method::q, method::u>>(              \
        device&, const column_arguments<T>&);                                                      \
    template void run_pass<method::open>(device&, const column_arguments<T>&);                     \
    template void run_pass<method::measure>(device&, const column_arguments<T>&)

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void run_pass<minres_parts::multiply>(device&, const column_arguments<T>&);
#include <krylith/device/language/instantiate.inc>

using minres_diagonal = minres_columns<false>;
using minres_applied = minres_columns<true>;

KRYLITH_COLUMN_PASSES(minres_diagonal, double);
KRYLITH_COLUMN_PASSES(minres_diagonal, float);
KRYLITH_APPLIED_PASSES(minres_applied, double);
KRYLITH_APPLIED_PASSES(minres_applied, float);

#undef KRYLITH_APPLIED_PASSES
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
