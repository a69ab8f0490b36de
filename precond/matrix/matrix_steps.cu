// The steps of this folder on CUDA devices.
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/matrix/intake_steps.hpp>
#include <krylith/precond/matrix/overlap_steps.hpp>

namespace krylith::cuda {

template struct row_visits<detail::count_staying_step, detail::hash_entries_step>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<detail::keep_staying_step<T>, detail::magnitudes_of_rows_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
