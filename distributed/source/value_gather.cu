// The gather of values on CUDA devices, a thread a nonzero: stores are coalesced, loads as far as
// the assembly's order is near CSR.
#include <krylith/device/loops/run_items.cuh>
#include <krylith/distributed/source/value_gather.hpp>

namespace krylith::cuda {

#define KRYLITH_INSTANTIATE(T) template struct item_runs<gather_task<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::cuda
