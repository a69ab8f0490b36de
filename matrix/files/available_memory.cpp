#include <krylith/matrix/files/available_memory.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include <krylith/device/memory/memory_room.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

std::int64_t available_memory() {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(find_memory_room().bytes, most));
}

std::string available_in_words() {
    const memory_room room = find_memory_room();
    return bytes_in_words(static_cast<double>(room.bytes)) + ' ' + room.bound;
}

std::string bytes_in_words(double bytes) {
    constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < units.size()) {
        bytes /= 1000;
        ++unit;
    }
    return number_text(bytes, 3) + ' ' + units[unit];
}

} // namespace krylith
