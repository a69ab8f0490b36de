// The steps of incomplete factors on CUDA devices.
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/incomplete/pattern_steps.hpp>

namespace krylith::aggregation::cuda {

template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::place_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::count_owned_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::same_pattern_step&);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const incomplete::fill_owned_step<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda
