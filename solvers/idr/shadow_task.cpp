#include <krylith/solvers/idr/shadow_space.hpp>
#include <krylith/vector/kernels/array_task.hpp>

namespace krylith {

template void execution::compute(shadow_task, std::span<const std::uint8_t>);

} // namespace krylith
