#include <cstdint>

#include <krylith/device/host/host_device.hpp>
#include <krylith/vector/kernels/kernels.hpp>
#include <krylith/vector/scalar/array_tasks.hpp>
#include <krylith/vector/scalar/host_context.hpp>
#include <krylith/vector/scalar/host_signal.hpp>

namespace krylith::host {

void scalars(device& device, const scalar_arguments& a) {
    static_cast<host_device&>(device).submit([a] {
        registers reg;
        const bool go = kernel_prologue(a.common, reg);
        if (go) perform(a.task, a.common.array, a.common.slots, lone_thread{});
        if (a.condition == 0) return;
        auto& again = *reinterpret_cast<bool*>(static_cast<std::uintptr_t>(a.condition));
        again = go && reg[control::state] == 0.0 && !failed(a.common.all_reduce);
    });
}

} // namespace krylith::host
