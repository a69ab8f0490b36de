// The passes of GMRES for several right-hand sides on GPUs, but for those over its basis.
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/gmres_columns.hpp>

namespace krylith::cuda {

#define KRYLITH_COLUMN_PASSES(method, T)                                                           \
    template void run_pass<method::start<false>>(device&, const column_arguments<T>&);             \
    template void run_pass<method::start<true>>(device&, const column_arguments<T>&);              \
    template void run_pass<method::multiply>(device&, const column_arguments<T>&)
KRYLITH_COLUMN_PASSES(gmres_columns<false>, double);
KRYLITH_COLUMN_PASSES(gmres_columns<true>, double);
KRYLITH_COLUMN_PASSES(gmres_columns<false>, float);
KRYLITH_COLUMN_PASSES(gmres_columns<true>, float);
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
