#include <krylith/matrix/files/output_target.hpp>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/replacement_file.hpp>
#include <krylith/matrix/files/write_all.hpp>

namespace krylith {
namespace {

[[noreturn]] void refuse_to_write(const std::string& name, int failure) {
    throw input_error(name + ": can't be written: " +
                      (failure == ENXIO ? "nobody reads from this pipe; start its reader first"
                                        : std::generic_category().message(failure)));
}

} // namespace

std::optional<int> named_descriptor(const std::filesystem::path& path) {
    const std::string& name = path.native();
    if (name == "/dev/stdout") return STDOUT_FILENO;
    if (name == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!name.starts_with(folder)) continue;
        const char* const end = name.data() + name.size();
        int number = -1;
        const auto [stop, code] = std::from_chars(name.data() + folder.size(), end, number);
        if (code == std::errc() && stop == end && number >= 0) return number;
    }
    return std::nullopt;
}

bool is_stream(const std::filesystem::path& path) {
    struct stat status {};
    return named_descriptor(path) || (stat(path.c_str(), &status) == 0 &&
                                      !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

int open_stream(const std::filesystem::path& path) {
    const std::optional<int> own = named_descriptor(path);
    const int descriptor = own ? fcntl(*own, F_DUPFD_CLOEXEC, 3)
                               : open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) refuse_to_write(path.string(), errno);
    if (!own) { // opening must not wait, but writing must, for a slow reader
        const int flags = fcntl(descriptor, F_GETFL);
        static_cast<void>(fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK));
    }
    return descriptor;
}

output_target::output_target(const std::filesystem::path& path) : name_(path.string()) {
    if (is_stream(path))
        stream_ = open_stream(path);
    else
        file_ = std::make_unique<binary::replacement_file>(path);
}

output_target::~output_target() {
    if (stream_ >= 0) close(stream_);
}

void output_target::write(std::span<const std::byte> bytes) {
    if (file_)
        file_->write(bytes);
    else if (const int failure = binary::write_all(stream_, bytes); failure != 0)
        refuse_to_write(name_, failure);
}

void output_target::commit() {
    if (file_)
        file_->commit();
    else if (close(std::exchange(stream_, -1)) != 0)
        refuse_to_write(name_, errno);
}

} // namespace krylith
