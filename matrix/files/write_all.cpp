#include <krylith/matrix/files/write_all.hpp>

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace krylith::binary {

int write_all(int descriptor, std::span<const std::byte> bytes) noexcept {
    constexpr std::size_t most = std::size_t{1} << 30; // Linux writes at most 2 GiB at once
    while (!bytes.empty()) {
        const ssize_t count = write(descriptor, bytes.data(), std::min(bytes.size(), most));
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

} // namespace krylith::binary
