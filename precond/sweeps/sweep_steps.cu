// The steps of sweeps on CUDA devices.
#include <krylith/precond/coarsening/row_visits.cuh>
#include <krylith/precond/sweeps/sweep_steps.hpp>

namespace krylith::aggregation::cuda {

template void visit_rows(device&, std::int64_t, std::int64_t, const detail::count_sweep_step&);
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::fill_sweep_step<T>&);                                   \
    template void visit_rows(device&, std::int64_t, std::int64_t,                                  \
                             const detail::take_diagonal_step<T>&);                                \
    template void visit_rows(device&, std::int64_t, std::int64_t, const detail::scale_step<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::aggregation::cuda
