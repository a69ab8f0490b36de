#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/ghosts/host_put.hpp>
#include <krylith/vector/kernels/kernels.hpp>
#include <krylith/vector/scalar/host_context.hpp>

namespace krylith::host {

template <class T>
void push(device& where, const frame& common, const T* operand, std::int64_t /*size*/,
          const ghost_push<T>& push) {
    auto& host = static_cast<host_device&>(where);
    host.submit([common, operand, push, threads = host.threads()] {
        registers reg;
        if (!begin(common, reg)) return;
        allow_next_push(common.mail, push);
        (void)send(common.mail, push, operand, threads); // a failure is seen by the next kernel
    });
}

template void push(device&, const frame&, const double*, std::int64_t, const ghost_push<double>&);
template void push(device&, const frame&, const float*, std::int64_t, const ghost_push<float>&);

} // namespace krylith::host
