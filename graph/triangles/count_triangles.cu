#include <krylith/device/loops/run_items.cuh>
#include <krylith/graph/triangles/count_triangles.hpp>

namespace krylith::cuda {

template struct item_runs<count_triangles_task>;

} // namespace krylith::cuda
