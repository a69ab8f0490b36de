#include <krylith/solvers/gmres/hessenberg_task.hpp>
#include <krylith/vector/kernels/array_task.cuh>

namespace krylith::cuda {

template void perform(device&, const kernel_context&, const hessenberg_task&);

} // namespace krylith::cuda
