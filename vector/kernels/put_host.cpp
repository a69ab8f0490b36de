#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/execution/host_context.hpp>
#include <krylith/vector/ghosts/host_put.hpp>
#include <krylith/vector/kernels/kernels.hpp>

namespace krylith::host {

template <class T>
void put(device& device, const kernel_context& common, const T* domain, std::int64_t /*size*/,
         const ghost_put<T>& put) {
    auto& host = static_cast<host_device&>(device);
    host.submit([common, domain, put, threads = host.threads()] {
        registers reg;
        if (!kernel_prologue(common, reg)) return;
        give_credit(put);
        (void)send(common.all_reduce, put, domain, threads); // the next kernel sees a failure
    });
}

#define KRYLITH_INSTANTIATE(T)                                                                     \
    template void put(device&, const kernel_context&, const T*, std::int64_t, const ghost_put<T>&);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith::host
