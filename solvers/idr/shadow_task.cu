#include <krylith/solvers/idr/shadow_space.hpp>
#include <krylith/vector/kernels/array_task.cuh>

namespace krylith::cuda {

template void perform(device&, const kernel_context&, const shadow_task&);

} // namespace krylith::cuda
