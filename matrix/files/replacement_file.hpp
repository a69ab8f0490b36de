// A file that is complete or not there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include <sys/stat.h>

namespace krylith::binary {

class unfinished_file;

/// Collects the new contents of `path` under a temporary name beside it. commit() renames; without
/// it, as after an exception, the destructor removes the temporary file and `path` stays as it was.
/// All throw input_error for what the system refuses.
///
/// A file that is replaced keeps its permissions, and its owner and group where the system lets
/// this process give files away; else permissions are taken from those whose class changes, and
/// never added. Through a symbolic link the file that it names is replaced. Other names of the old
/// file (hard links) keep the old contents.
///
/// The temporary name is PATH.krylith-part (a number behind it where another process writes the
/// same path at this moment). A process that was killed (SIGKILL, no power) leaves it behind, and
/// the next who writes that path removes it: its lock shows that nobody uses it.
class replacement_file {
public:
    /// Refuses a path that exists and isn't a regular file, or that may not be written.
    explicit replacement_file(const std::filesystem::path& path);
    ~replacement_file();
    replacement_file(const replacement_file&) = delete;
    replacement_file& operator=(const replacement_file&) = delete;

    void write(std::span<const std::byte> bytes);

    /// Returns once the contents and the new name are on the disk.
    void commit();

private:
    void create();
    void keep_owner_and_permissions() const;
    [[noreturn]] void refuse(const std::string& what) const;

    std::filesystem::path path_;
    std::string temporary_; ///< empty once nothing is left to remove
    std::unique_ptr<unfinished_file> registered_;
    struct stat old_ {};
    bool replaces_ = false; ///< old_ is the state of a file that is there
    int descriptor_ = -1;
};

} // namespace krylith::binary
