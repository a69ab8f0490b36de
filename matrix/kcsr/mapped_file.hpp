// A read-only file as memory, by the system's paging.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace krylith::binary {

/// Owns a mapping of a whole regular file. Move-only; the bytes stay where they are.
class mapped_file {
public:
    /// Throws input_error for a file that is missing, isn't a regular file, or can't be opened.
    explicit mapped_file(const std::filesystem::path& path);
    mapped_file(mapped_file&& other) noexcept;
    mapped_file& operator=(mapped_file&& other) noexcept;
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;
    ~mapped_file();

    /// The bytes of the file, aligned to a page; empty for an empty file.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

} // namespace krylith::binary
