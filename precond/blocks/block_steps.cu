// The steps of blocks on CUDA devices.
#include <krylith/precond/blocks/block_steps.hpp>
#include <krylith/precond/coarsening/row_visits.cuh>

namespace krylith::aggregation::cuda {

template void visit_rows(device&, std::int64_t, std::int64_t, const detail::pattern_hash_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::same_pattern_step&);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::gather_blocks_step<T>&);                                \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::pack_rows_step<T>&);                                    \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::unpack_rows_step<T>&);                                  \
    template void visit_rows(device&, std::int64_t, std::int64_t, const detail::take_rows_step<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda
