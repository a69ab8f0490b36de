#include <krylith/device/loops/run_items.cuh>
#include <krylith/device/loops/running_sums.cuh>
#include <krylith/spmv/nonzero_split/split_tasks.hpp>

namespace krylith::cuda {

template struct item_runs<find_diagonal_entries, list_remote_rows, pick_values<double>,
                          pick_values<float>>;
template void add_up_sizes(const std::shared_ptr<device>&, std::int64_t, const remote_row_sizes&,
                           std::int64_t*);

} // namespace krylith::cuda
