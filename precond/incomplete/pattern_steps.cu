// The steps of incomplete factors on CUDA devices.
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/incomplete/pattern_steps.hpp>

namespace krylith::cuda {

template struct row_visits<incomplete::place_step, incomplete::count_owned_step,
                           incomplete::same_pattern_step>;
#define KRYLITH_INSTANTIATE(T) template struct row_visits<incomplete::fill_owned_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
