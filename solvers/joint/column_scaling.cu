// The passes that find the scales of columns, on GPUs.
#include <krylith/solvers/joint/applied_steps.hpp>
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/column_scaling.hpp>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void run_pass<scaling_parts::copy>(device&, const column_arguments<T>&);              \
    template void run_pass<scaling_parts::multiply>(device&, const column_arguments<T>&);          \
    template void run_pass<scaling_parts::square>(device&, const column_arguments<T>&);            \
    template void run_pass<scaling_parts::precondition>(device&, const column_arguments<T>&);      \
    template void                                                                                  \
    run_pass<normalise<scaling_parts, residual_squares, scaling_parts::b, scaling_parts::r>>(      \
        device&, const column_arguments<T>&);

#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
