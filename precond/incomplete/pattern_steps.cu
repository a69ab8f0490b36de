// The steps of incomplete factors on CUDA devices.
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/incomplete/pattern_steps.hpp>

namespace krylith::aggregation::cuda {

template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::place_step&);
template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::count_owned_step&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const incomplete::fill_owned_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const incomplete::fill_owned_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const incomplete::same_pattern_step&);

} // namespace krylith::aggregation::cuda
