#include <krylith/matrix/kcsr/mapped_file.hpp>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <krylith/device/error.hpp>

namespace krylith::binary {
namespace {

std::span<const std::byte> map(int descriptor, const std::string& name) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) {
        throw input_error(name + ": can't be read: " + std::generic_category().message(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        throw input_error(name + ": is not a regular file, which a binary CSR file must be");
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) {
        return {};
    }
    void* const begin = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (begin == MAP_FAILED) {
        throw input_error(name + ": can't be mapped: " + std::generic_category().message(errno));
    }
    static_cast<void>(madvise(begin, size, MADV_WILLNEED)); // advice: nothing is lost if it fails
    return {static_cast<const std::byte*>(begin), size};
}

} // namespace

mapped_file::mapped_file(const std::filesystem::path& path) {
    const std::string name = path.string();
    // O_NONBLOCK: opening a pipe would wait for its writer otherwise.
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        throw input_error(name + ": " +
                          (errno == ENOENT
                               ? std::string("no such file")
                               : "can't be opened: " + std::generic_category().message(errno)));
    }
    try {
        bytes_ = map(descriptor, name);
    } catch (...) {
        close(descriptor);
        throw;
    }
    close(descriptor);
}

mapped_file::mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

mapped_file& mapped_file::operator=(mapped_file&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
}

mapped_file::~mapped_file() {
    if (!bytes_.empty()) {
        munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
}

} // namespace krylith::binary
