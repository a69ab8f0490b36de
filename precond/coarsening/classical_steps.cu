// The steps of classical coarsening on CUDA devices.
#include <krylith/device/loops/running_sums.cuh>
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/coarsening/influence_steps.hpp>
#include <krylith/precond/coarsening/interpolation_steps.hpp>
#include <krylith/precond/coarsening/rough_rows_step.hpp>
#include <krylith/precond/coarsening/truncation_steps.hpp>

namespace krylith::cuda {

template struct list_visits<classical::choose_coarse_step>;
template struct row_visits<classical::number_coarse_step>;
template struct size_sums<std::int32_t, classical::is_coarse>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<classical::largest_influence_step<T>, classical::influence_step<T>, \
                               classical::coarse_influence_step<T>, classical::row_weight_step<T>, \
                               classical::fill_indirect_step<T>, classical::fill_direct_step<T>,   \
                               classical::inject_step<T>, classical::truncate_step<T>,             \
                               classical::fill_truncated_step<T>, classical::rough_rows_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
