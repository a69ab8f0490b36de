// A regular file that any thread can read at any position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <sys/types.h>

namespace krylith::binary {

/// "a directory", "a pipe" ...: what a file is that is not regular.
[[nodiscard]] const char* kind_of_file(mode_t mode);

/// A file for reading. Unlike a mapping, it reports a file that is cut off meanwhile, and a disk
/// that fails.
class readable_file {
public:
    /// Throws input_error for a file that is missing, isn't a regular file, or can't be opened. It
    /// never waits, as a pipe without a writer, or a log of the kernel, would make it.
    explicit readable_file(const std::filesystem::path& path);
    ~readable_file();
    readable_file(const readable_file&) = delete;
    readable_file& operator=(const readable_file&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// The size of the whole file when it was opened.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

    /// Fills `place` from that position on. Throws input_error where the file ends before, or
    /// can't be read. Many threads may call it at once.
    void read(std::uint64_t begin, std::span<std::byte> place) const;

private:
    std::string name_;
    std::uint64_t bytes_ = 0;
    int descriptor_ = -1;
};

} // namespace krylith::binary
