#include <krylith/tests/random_systems/watchdog.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace random_systems {

namespace {

// The case as text, which is all that a signal handler reads.
std::array<char, 1024> current{};
volatile std::sig_atomic_t patience = 60;

void print(const char* text) {
    if (write(STDOUT_FILENO, text, std::strlen(text)) < 0) _exit(3);
}

void on_signal(int number) {
    print(number == SIGALRM ? "\nHANG: " : "\nCRASH: ");
    print(current.data());
    print("\n");
    if (number == SIGALRM) _exit(1);
    std::signal(number, SIG_DFL);
    std::raise(number);
}

} // namespace

void watch(int seconds) {
    patience = seconds;
    for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        std::signal(number, on_signal);
}

void begin_case(const std::string& line) {
    const std::size_t length = std::min(line.size(), current.size() - 1);
    std::copy_n(line.begin(), length, current.begin());
    current[length] = '\0';
    alarm(static_cast<unsigned>(patience));
}

} // namespace random_systems
