#include <krylith/device/loops/run_items.cuh>
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/graph/components/vertex_forest.hpp>

namespace krylith::cuda {

template struct row_visits<unite_edges_step>;
template struct item_runs<plant_task, unite_trees_task, write_roots_task>;

} // namespace krylith::cuda
