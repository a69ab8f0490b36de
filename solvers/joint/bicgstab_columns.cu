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
KRYLITH_COLUMN_PASSES(bicgstab_columns<false>, double);
KRYLITH_COLUMN_PASSES(bicgstab_columns<true>, double);
KRYLITH_COLUMN_PASSES(bicgstab_columns<false>, float);
KRYLITH_COLUMN_PASSES(bicgstab_columns<true>, float);
#undef KRYLITH_COLUMN_PASSES

} // namespace krylith::cuda
