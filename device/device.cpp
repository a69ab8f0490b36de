#include <krylith/device/device.hpp>

#include <thread>

namespace krylith {

void device::serve_while_busy() {
    if (!waiting_task_) return;
    constexpr int calls_a_look = 16; // to ask a GPU takes longer than a call
    while (!idle()) {
        for (int k = 0; k < calls_a_look; ++k) waiting_task_();
        if (kind() == backend::host) std::this_thread::yield(); // it may need this core
    }
    waiting_task_(); // for what came last
}

} // namespace krylith
