// What a process takes of its machine, where several processes share it.
#include <krylith/comm/driver_link.hpp>

#include <algorithm>
#include <span>

#include <unistd.h>

#include <krylith/device/device_group.hpp>
#include <krylith/device/host/host_threads.hpp>

namespace krylith {

int machine_share::threads() const {
    const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::max(1, std::min(usable_cores(), cores / processes));
}

std::vector<int> machine_share::gpus(int count) const {
    const int present = std::max(1, cuda_device_count());
    std::vector<int> ordinals;
    for (int k = 0; k < count; ++k) ordinals.push_back((number * count + k) % present);
    return ordinals;
}

machine_share find_machine_share(driver_link& link) {
    std::vector<char> name(256);
    (void)gethostname(name.data(), name.size() - 1);
    const auto bytes = std::as_bytes(std::span(name));
    const auto names = link.all_gather({bytes.begin(), bytes.end()});
    const auto own = names.begin() + link.driver();
    return {static_cast<int>(std::count(names.begin(), own, *own)),
            static_cast<int>(std::ranges::count(names, *own))};
}

} // namespace krylith
