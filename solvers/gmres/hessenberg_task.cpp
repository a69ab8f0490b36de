#include <krylith/solvers/gmres/hessenberg_task.hpp>
#include <krylith/vector/kernels/array_task.hpp>

namespace krylith {

template void execution::compute(hessenberg_task, std::span<const std::uint8_t>);

} // namespace krylith
