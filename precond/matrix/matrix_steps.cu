// The steps of this folder on CUDA devices.
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/matrix/intake_steps.hpp>
#include <krylith/precond/matrix/overlap_steps.hpp>

namespace krylith::aggregation::cuda {

template void visit_rows(device&, std::int64_t, std::int64_t, const detail::count_staying_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::hash_entries_step&);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::keep_staying_step<T>&);                                 \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::magnitudes_of_rows_step<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda
