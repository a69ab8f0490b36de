// The steps of colouring on CUDA devices.
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/colouring/colour_steps.hpp>

namespace krylith::aggregation::cuda {

template void visit_list(device&, const list_step&, std::int64_t, std::int64_t,
                         const colouring::colour_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::mirror_sum_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::uncolour_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const colouring::list_colour_step&);
template void number_leads(device&, std::int64_t, const colouring::has_colour&, std::int32_t*,
                           void*);

} // namespace krylith::aggregation::cuda
