#include <krylith/device/loops/run_items.cuh>
#include <krylith/spmspv/kernels/vector_fill.hpp>

namespace krylith::cuda {

template struct item_runs<spmspv::shift_task, spmspv::fill_task<std::uint32_t>,
                          spmspv::copy_offsets_task<std::int32_t, std::int64_t>,
                          spmspv::copy_offsets_task<std::int64_t, std::int32_t>>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct item_runs<spmspv::fill_task<T>, spmspv::spread_task<T>>;
KRYLITH_INSTANTIATE(std::int32_t)
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
