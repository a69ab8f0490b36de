#include <krylith/device/host/processor_seconds.hpp>

#include <chrono>

#include <time.h>

#include <krylith/device/host/host_device.hpp>

namespace krylith {

double processor_seconds(device& host) {
    double seconds = 0;
    static_cast<host_device&>(host).submit([&seconds] {
        timespec now{};
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    });
    host.synchronize();
    return seconds;
}

double idle_seconds(device& device) {
    if (device.kind() == backend::host && static_cast<host_device&>(device).threads() == 1)
        return processor_seconds(device);
    device.synchronize();
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

} // namespace krylith
