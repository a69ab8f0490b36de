#include <krylith/matrix/binary/replacement_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <krylith/device/error.hpp>

namespace krylith::binary {

replacement_file::replacement_file(const std::filesystem::path& path) : path_(path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path_, ignored);
    if (exists(status) && !is_regular_file(status)) {
        throw input_error(path_.string() +
                          ": can't be written: it exists and is not a regular file");
    }
    // Through a symbolic link to what it names: renaming would replace the link.
    if (std::filesystem::is_symlink(path_, ignored) && exists(status)) {
        path_ = std::filesystem::canonical(path_);
    }
    if (exists(status) && access(path_.c_str(), W_OK) != 0) {
        refuse(std::generic_category().message(errno));
    }
    // Not mkstemp, whose file only its owner may read.
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
        temporary_ =
            path_.string() + ".part" + std::to_string(getpid()) + "_" + std::to_string(attempt);
        descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) {
            temporary_.clear();
            refuse(std::generic_category().message(errno));
        }
    }
}

replacement_file::~replacement_file() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!temporary_.empty()) {
        unlink(temporary_.c_str());
    }
}

void replacement_file::write(std::span<const std::byte> bytes) {
    constexpr std::size_t most = std::size_t{1} << 30; // Linux writes at most 2 GiB at once
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor_, bytes.data(), std::min(bytes.size(), most));
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            refuse(std::generic_category().message(errno));
        }
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void replacement_file::commit() {
    // Some file systems (quotas, networks) tell only here that there was no room.
    if (::close(std::exchange(descriptor_, -1)) != 0 ||
        std::rename(temporary_.c_str(), path_.c_str()) != 0) {
        refuse(std::generic_category().message(errno));
    }
    temporary_.clear();
}

void replacement_file::refuse(const std::string& what) const {
    throw input_error(path_.string() + ": can't be written: " + what);
}

} // namespace krylith::binary
