// Steps that merge rows on CUDA devices.
#include <krylith/device/loops/visit_rows.cuh>
#include <krylith/distributed/products/merged_rows.hpp>

namespace krylith::cuda {

template struct row_visits<count_merged_step>;
#define KRYLITH_INSTANTIATE(T) template struct row_visits<add_rows_step<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
