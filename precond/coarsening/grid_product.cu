// Products of grids on CUDA devices.
#include <krylith/device/loops/run_items.cuh>
#include <krylith/device/loops/running_sums.cuh>
#include <krylith/precond/coarsening/grid_box_rows.hpp>
#include <krylith/precond/coarsening/grid_full_rows.hpp>
#include <krylith/precond/coarsening/grid_point_rows.hpp>
#include <krylith/precond/coarsening/grid_restriction_rows.hpp>

namespace krylith::cuda {

template struct size_sums<std::int64_t, aggregation::coarse_row_size, aggregation::full_row_size,
                          aggregation::restricted_row_size>;
template struct item_runs<aggregation::restricted_columns_task>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct item_runs<aggregation::p_entries_task<T>, aggregation::point_rows_task<T>,     \
                              aggregation::box_row_task<T>, aggregation::full_point_rows_task<T>,  \
                              aggregation::full_box_rows_task<T>,                                  \
                              aggregation::restricted_values_task<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
