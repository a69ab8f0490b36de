// The steps of patterns of approximate inverses on CUDA devices.
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/approximate/pattern_steps.hpp>

namespace krylith::cuda {

template struct row_visits<detail::longest_row_step>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<detail::count_chosen_step<T>, detail::list_chosen_step<T>,          \
                               detail::diagonal_root_step<T>, detail::coupling_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
