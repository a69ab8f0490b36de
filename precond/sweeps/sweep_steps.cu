// The steps of sweeps on CUDA devices.
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/sweeps/sweep_steps.hpp>

namespace krylith::aggregation::cuda {

template void visit_rows(device&, std::int64_t, std::int64_t, const detail::count_sweep_step&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::fill_sweep_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::fill_sweep_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::take_diagonal_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t,
                         const detail::take_diagonal_step<float>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::scale_step<double>&);
template void visit_rows(device&, std::int64_t, std::int64_t, const detail::scale_step<float>&);

} // namespace krylith::aggregation::cuda
