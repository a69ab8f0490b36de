// The passes of MINRES for several right-hand sides on GPUs.
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/minres_columns.hpp>

namespace krylith::cuda {

#define KRYLITH_COLUMN_PASSES(method, T)                                                           \
    template void run_pass<method::start<false>>(device&, const column_arguments<T>&);             \
    template void run_pass<method::start<true>>(device&, const column_arguments<T>&);              \
    template void run_pass<method::multiply>(device&, const column_arguments<T>&);                 \
    template void run_pass<method::lanczos>(device&, const column_arguments<T>&);                  \
    template void run_pass<method::turn>(device&, const column_arguments<T>&);                     \
    template void run_test<method>(device&, const column_arguments<T>&)
KRYLITH_COLUMN_PASSES(minres_columns<false>, double);
KRYLITH_COLUMN_PASSES(minres_columns<true>, double);
KRYLITH_COLUMN_PASSES(minres_columns<false>, float);
KRYLITH_COLUMN_PASSES(minres_columns<true>, float);
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
