// The steps of this folder on CUDA devices.
#include <krylith/device/loops/run_items.cuh>
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/scaling/bound_step.hpp>
#include <krylith/precond/scaling/equilibration_steps.hpp>

namespace krylith::cuda {

template struct row_visits<detail::largest_of_row_step>;
template struct item_runs<detail::halve_distance_task, detail::largest_log_task>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<detail::scaled_bound_step<T>>;                                      \
    template struct item_runs<detail::magnitude_log_task<T>, detail::square_task<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
