// Runs the built krylith command on a terminal of its own, as a user sits before it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <sys/types.h>

#include <krylith/tests/matrix/support/temporary_folder.hpp>

namespace krylith::test {

/// Whether the system has pseudo-terminals; a bare root, where nothing is mounted, doesn't. Says so
/// if not.
[[nodiscard]] bool has_terminals();

/// The command with standard output and error on a pseudo-terminal.
class terminal_run {
public:
    terminal_run(const temporary_folder& folder, const std::vector<std::string>& arguments);
    terminal_run(const terminal_run&) = delete;
    terminal_run& operator=(const terminal_run&) = delete;
    ~terminal_run(); ///< kills it

    /// Reads until the terminal has shown `text`. Returns whether it did within a minute.
    [[nodiscard]] bool shows(const std::string& text);
    /// Types, "\x03" for Ctrl-C.
    void type(const std::string& keys) const;
    void signal(int number) const;
    /// Reads to the end and returns what wait(2) gives.
    [[nodiscard]] int status();
    /// All that the terminal has got.
    [[nodiscard]] const std::string& output() const { return output_; }

private:
    /// Appends what is there; false at the end, or after `patience`.
    bool read_more(std::chrono::milliseconds patience);

    int terminal_ = -1;
    pid_t child_ = -1;
    std::string output_;
};

} // namespace krylith::test
