// Products of grids on CUDA devices.
#include <krylith/device/loops/run_items.cuh>
#include <krylith/device/loops/running_sums.cuh>
#include <krylith/precond/coarsening/grid_box_rows.hpp>
#include <krylith/precond/coarsening/grid_point_rows.hpp>

namespace krylith::cuda {

template struct size_sums<std::int64_t, aggregation::coarse_row_size>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct item_runs<aggregation::p_entries_task<T>, aggregation::point_rows_task<T>,     \
                              aggregation::box_row_task<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
