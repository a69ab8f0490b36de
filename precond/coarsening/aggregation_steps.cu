// The steps of aggregation on CUDA devices.
#include <krylith/device/loops/running_sums.cuh>
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/precond/coarsening/grid_steps.hpp>
#include <krylith/precond/coarsening/join_steps.hpp>
#include <krylith/precond/coarsening/mirror_steps.hpp>
#include <krylith/precond/coarsening/near_null_steps.hpp>
#include <krylith/precond/coarsening/node_prolongation_steps.hpp>
#include <krylith/precond/coarsening/node_steps.hpp>
#include <krylith/precond/coarsening/pair_steps.hpp>
#include <krylith/precond/coarsening/rounding_steps.hpp>
#include <krylith/precond/coarsening/set_steps.hpp>
#include <krylith/precond/coarsening/strength_steps.hpp>
#include <krylith/precond/coarsening/tentative_steps.hpp>
#include <krylith/precond/coarsening/used_steps.hpp>

namespace krylith::cuda {

template struct list_visits<aggregation::largest_key_step, aggregation::decide_step,
                            aggregation::choose_step, aggregation::join_root_step,
                            aggregation::join_strongest_step>;
template struct row_visits<
    aggregation::begin_set_step, aggregation::left_step, aggregation::candidate_step,
    aggregation::number_roots_step, aggregation::renumber_step, aggregation::used_step,
    aggregation::grid_step, aggregation::box_step, aggregation::couple_step, aggregation::send_step,
    aggregation::receive_step, aggregation::begin_pairs_step, aggregation::agree_step,
    aggregation::number_pairs_step, aggregation::join_largest_step, aggregation::join_sum_step,
    aggregation::count_blocks_step, aggregation::count_reached_step, aggregation::list_reached_step,
    aggregation::spread_pattern_step, aggregation::factor_step, aggregation::rounding_step,
    aggregation::flag_values_step>;
template struct size_sums<std::int32_t, aggregation::is_root, aggregation::leads_pair>;
#define KRYLITH_INSTANTIATE(T)                                                                     \
    template struct row_visits<                                                                    \
        aggregation::diagonal_step<T>, aggregation::strength_step<T>, aggregation::filter_step<T>, \
        aggregation::magnitude_step<T>, aggregation::square_step<T>, aggregation::norm_step<T>,    \
        aggregation::tentative_step<T>, aggregation::fill_mirror_step<T>,                          \
        aggregation::fill_blocks_step<T>, aggregation::bound_rows_step<T>,                         \
        aggregation::magnitudes_step<T>, aggregation::products_step<T>,                            \
        aggregation::coarse_vectors_step<T>, aggregation::tentative_rows_step<T>,                  \
        aggregation::fill_dropped_step<T>, aggregation::scale_vectors_step<T>,                     \
        aggregation::fill_prolongation_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
