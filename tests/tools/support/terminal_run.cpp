#include <krylith/tests/tools/support/terminal_run.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <krylith/tests/tools/support/command_run.hpp>

namespace krylith::test {

namespace {

constexpr std::chrono::seconds longest_wait{180};

[[noreturn]] void run_on(const char* terminal, const std::string& folder,
                         std::vector<char*> arguments) {
    (void)setsid();
    const int standard = open(terminal, O_RDWR);
    (void)ioctl(standard, TIOCSCTTY, 0);
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        (void)dup2(standard, descriptor);
    (void)setenv("TERM", "xterm", 1); // NOLINT(concurrency-mt-unsafe)
    if (chdir(folder.c_str()) == 0) (void)execv(arguments.front(), arguments.data());
    _exit(127);
}

} // namespace

bool has_terminals() {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) {
        MESSAGE("not tested: there is no pseudo-terminal");
        return false;
    }
    (void)close(terminal);
    return true;
}

terminal_run::terminal_run(const temporary_folder& folder,
                           const std::vector<std::string>& arguments) {
    terminal_ = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    std::array<char, 128> name{};
    if (terminal_ < 0 || grantpt(terminal_) != 0 || unlockpt(terminal_) != 0 ||
        ptsname_r(terminal_, name.data(), name.size()) != 0)
        throw std::runtime_error("there is no pseudo-terminal");
    std::vector<std::string> words = {command_path()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string place = folder.file("").string();
    child_ = fork();
    if (child_ < 0) throw std::runtime_error("fork failed");
    if (child_ == 0) run_on(name.data(), place, pointers);
}

terminal_run::~terminal_run() {
    if (child_ > 0) {
        (void)kill(child_, SIGKILL);
        (void)waitpid(child_, nullptr, 0);
    }
    (void)close(terminal_);
}

bool terminal_run::read_more(std::chrono::milliseconds patience) {
    pollfd waited{terminal_, POLLIN, 0};
    if (poll(&waited, 1, static_cast<int>(patience.count())) <= 0) return false;
    std::array<char, 4096> some{};
    const auto count = read(terminal_, some.data(), some.size());
    if (count <= 0) return false; // EIO: the last one who had it open is gone
    output_.append(some.data(), static_cast<std::size_t>(count));
    return true;
}

bool terminal_run::shows(const std::string& text) {
    while (!contains(output_, text))
        if (!read_more(longest_wait)) return false;
    return true;
}

void terminal_run::type(const std::string& keys) const {
    (void)!write(terminal_, keys.data(), keys.size());
}

void terminal_run::signal(int number) const {
    (void)kill(child_, number);
}

int terminal_run::status() {
    while (read_more(longest_wait)) {
    }
    int status = -1;
    if (waitpid(child_, &status, 0) == child_) child_ = -1;
    return status;
}

} // namespace krylith::test
