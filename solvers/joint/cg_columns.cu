// The passes of CG for several right-hand sides on GPUs.
#include <krylith/solvers/joint/cg_columns.hpp>
#include <krylith/solvers/joint/column_pass.cuh>

namespace krylith::cuda {

#define KRYLITH_COLUMN_PASSES(method, T)                                                           \
    template void run_pass<method::start<false>>(device&, const column_arguments<T>&);             \
    template void run_pass<method::start<true>>(device&, const column_arguments<T>&);              \
    template void run_pass<method::multiply>(device&, const column_arguments<T>&);                 \
    template void run_pass<method::subtract>(device&, const column_arguments<T>&);                 \
    template void run_pass<method::advance>(device&, const column_arguments<T>&);                  \
    template void run_test<method>(device&, const column_arguments<T>&)
KRYLITH_COLUMN_PASSES(cg_columns<false>, double);
KRYLITH_COLUMN_PASSES(cg_columns<true>, double);
KRYLITH_COLUMN_PASSES(cg_columns<false>, float);
KRYLITH_COLUMN_PASSES(cg_columns<true>, float);
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
