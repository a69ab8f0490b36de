// The temporary files that exist at this moment, for a program that is told to end.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>

namespace krylith {

/// Removes the temporary files of all writers that are at work. It only calls what a signal handler
/// may call, and is meant for one that ends the process: the writers' next steps fail. krylith
/// installs no handler by itself; its command does.
void remove_unfinished_files() noexcept;

namespace binary {

/// A file that remove_unfinished_files() removes, until this object ends. A path longer than
/// 4095 bytes, or a 65th at a time, is not remembered.
class unfinished_file {
public:
    explicit unfinished_file(const std::string& path) noexcept;
    ~unfinished_file();
    unfinished_file(const unfinished_file&) = delete;
    unfinished_file& operator=(const unfinished_file&) = delete;

private:
    std::atomic<int>* state_ = nullptr;
};

} // namespace binary
} // namespace krylith
