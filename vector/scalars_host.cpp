#include <cstdint>

#include <krylith/device/host_device.hpp>
#include <krylith/vector/array_tasks.hpp>
#include <krylith/vector/host_frame.hpp>
#include <krylith/vector/host_signal.hpp>
#include <krylith/vector/kernels.hpp>

namespace krylith::host {

void scalars(device& where, const scalar_arguments& a) {
    static_cast<host_device&>(where).submit([a] {
        registers reg;
        const bool go = begin(a.common, reg);
        if (go) perform(a.task, a.common.array, a.common.slots, lone_thread{});
        if (a.condition == 0) return;
        auto& again = *reinterpret_cast<bool*>(static_cast<std::uintptr_t>(a.condition));
        again = go && reg[control::state] == 0.0 && !failed(a.common.mail);
    });
}

} // namespace krylith::host
