// The target of a file that someone names: a file is replaced whole, a stream written in place.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace krylith {

namespace binary {
class replacement_file;
} // namespace binary

/// Returns N for /dev/fd/N and /proc/self/fd/N, 1 for /dev/stdout, 2 for /dev/stderr: what this
/// process has open, whatever it is, and not a file to be replaced.
[[nodiscard]] std::optional<int> named_descriptor(const std::filesystem::path& path);

/// Returns whether writing to the path goes on in place: an open descriptor, a pipe, a device, a
/// socket. A path that isn't there is no stream.
[[nodiscard]] bool is_stream(const std::filesystem::path& path);

/// Opens a stream for writing without waiting for a reader: a pipe that has none is refused.
/// Returns the descriptor. Throws input_error.
[[nodiscard]] int open_stream(const std::filesystem::path& path);

/// Takes the contents of `path` from begin to end. A regular file is replaced whole by commit(),
/// and stays as it was without it (matrix/files/replacement_file.hpp has what is kept of it);
/// streams get the bytes as they come. All throw input_error for what the system refuses.
class output_target {
public:
    explicit output_target(const std::filesystem::path& path);
    ~output_target();
    output_target(const output_target&) = delete;
    output_target& operator=(const output_target&) = delete;

    void write(std::span<const std::byte> bytes);
    void commit();

private:
    std::string name_;
    std::unique_ptr<binary::replacement_file> file_;
    int stream_ = -1; ///< where there is no file_
};

} // namespace krylith
