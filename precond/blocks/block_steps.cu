// The steps of blocks on CUDA devices.
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/blocks/block_steps.hpp>

namespace krylith::cuda {

template struct row_visits<detail::pattern_hash_step, detail::same_pattern_step>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<detail::gather_blocks_step<T>, detail::pack_rows_step<T>,           \
                               detail::unpack_rows_step<T>, detail::take_rows_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
