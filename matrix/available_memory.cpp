#include <krylith/matrix/available_memory.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>

namespace krylith {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The first number of a file that holds one; `unlimited` for no such file and for "max".
std::int64_t number_in(const char* path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    return file >> number ? number : unlimited;
}

std::int64_t kernel_estimate() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    for (std::string line; file >> key; std::getline(file, line)) {
        if (key == "MemAvailable:") {
            std::int64_t kibibytes = 0;
            return file >> kibibytes ? kibibytes * 1024 : unlimited;
        }
    }
    return unlimited;
}

std::int64_t address_space_limit() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return unlimited;
    }
    return static_cast<std::int64_t>(
        std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(unlimited)));
}

} // namespace

std::int64_t available_memory() {
    return std::min({kernel_estimate(), address_space_limit(),
                     number_in("/sys/fs/cgroup/memory.max"),
                     number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
}

std::string bytes_in_words(double bytes) {
    constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.3g %s", bytes, units[unit]);
    return text.data();
}

} // namespace krylith
