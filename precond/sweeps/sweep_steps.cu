// The steps of sweeps on CUDA devices.
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/sweeps/sweep_steps.hpp>

namespace krylith::cuda {

template struct row_visits<detail::count_sweep_step>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<detail::fill_sweep_step<T>, detail::take_diagonal_step<T>,          \
                               detail::scale_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
