#include <krylith/device/loops/listed_items.hpp>

#include <krylith/device/loops/run_items.cuh>

namespace krylith::cuda {

template struct item_runs<gather_items<std::uint8_t, std::int64_t>,
                          gather_items<std::uint32_t, std::int64_t>,
                          gather_items<std::uint64_t, std::int64_t>>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct item_runs<gather_items<T, std::int32_t>, scatter_items<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
