#include <krylith/matrix/files/readable_file.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <krylith/device/error.hpp>

namespace krylith::binary {

const char* kind_of_file(mode_t mode) {
    return S_ISDIR(mode)    ? "a directory"
           : S_ISCHR(mode)  ? "a character device"
           : S_ISBLK(mode)  ? "a block device"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "of an unknown kind";
}

readable_file::readable_file(const std::filesystem::path& path) : name_(path.string()) {
    const auto refuse = [&](const std::string& what) { throw input_error(name_ + ": " + what); };
    const auto reason = [] { return std::generic_category().message(errno); };
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor_ < 0) {
        refuse(errno == ENOENT ? "no such file" : "can't be opened: " + reason());
    }
    struct stat status {};
    const bool known = fstat(descriptor_, &status) == 0;
    if (!known || !S_ISREG(status.st_mode)) {
        const std::string what = known ? std::string("is not a regular file but ") +
                                             kind_of_file(status.st_mode) +
                                             "; inputs must be regular files"
                                       : "can't be read: " + reason();
        close(descriptor_);
        refuse(what);
    }
    bytes_ = static_cast<std::uint64_t>(status.st_size);
}

readable_file::~readable_file() {
    close(descriptor_);
}

void readable_file::read(std::uint64_t begin, std::span<std::byte> place) const {
    constexpr std::size_t most = std::size_t{1} << 30; // Linux reads at most 2 GiB at once
    while (!place.empty()) {
        const ssize_t count = pread(descriptor_, place.data(), std::min(place.size(), most),
                                    static_cast<off_t>(begin));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw input_error(name_ + ": can't be read at byte " + std::to_string(begin) + ": " +
                              std::generic_category().message(errno));
        }
        if (count == 0) {
            struct stat status {};
            const auto left = fstat(descriptor_, &status) == 0 ? status.st_size : 0;
            throw input_error(name_ + ": has " + std::to_string(left) + " bytes, allowed are the " +
                              std::to_string(bytes_) +
                              " that it had when it was opened: it was cut off while it was read");
        }
        begin += static_cast<std::uint64_t>(count);
        place = place.subspan(static_cast<std::size_t>(count));
    }
}

} // namespace krylith::binary
