#include <krylith/device/loops/running_sums.cuh>

namespace krylith::cuda {

template struct size_sums<std::int64_t, listed_sizes<std::int32_t>, listed_sizes<std::int64_t>>;

} // namespace krylith::cuda
