// Deals of entries by columns on CUDA devices: a thread an entry, with unit stride. The additions
// to counts of columns stay in the second-level cache as far as the counts do.
#include <krylith/device/loops/run_items.cuh>
#include <krylith/device/loops/running_sums.cuh>
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/distributed/source/column_deal_tasks.hpp>

namespace krylith::cuda {

template struct item_runs<count_columns, find_cut, seek_entry, list_piece, start_rows,
                          offset_piece>;
template struct row_visits<count_in_stretches>;
template struct size_sums<std::int64_t, counts_of_ranks>;
template struct size_sums<std::int32_t, lies_before>;

} // namespace krylith::cuda
