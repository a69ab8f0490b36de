// A file that is complete or not there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace krylith::binary {

/// Collects the new contents of `path` under a temporary name beside it. commit() renames; without
/// it, as after an exception, the destructor removes the temporary file and `path` stays as it was.
/// All throw input_error for what the system refuses.
class replacement_file {
public:
    /// Refuses a path that exists and isn't a regular file, or that may not be written.
    explicit replacement_file(const std::filesystem::path& path);
    ~replacement_file();
    replacement_file(const replacement_file&) = delete;
    replacement_file& operator=(const replacement_file&) = delete;

    void write(std::span<const std::byte> bytes);
    void commit();

private:
    [[noreturn]] void refuse(const std::string& what) const;

    std::filesystem::path path_;
    std::string temporary_; ///< empty once nothing is left to remove
    int descriptor_ = -1;
};

} // namespace krylith::binary
