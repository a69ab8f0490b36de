// The passes that find the scales of columns, on GPUs.
#include <krylith/solvers/joint/applied_steps.hpp>
#include <krylith/solvers/joint/column_pass.cuh>
#include <krylith/solvers/joint/column_scaling.hpp>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct column_passes<                                                                 \
        T, scaling_parts::copy, scaling_parts::multiply, scaling_parts::square,                    \
        scaling_parts::precondition,                                                               \
        normalise<scaling_parts, residual_squares, scaling_parts::b, scaling_parts::r>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
