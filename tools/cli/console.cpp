#include <krylith/tools/cli/console.hpp>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::tool {

namespace {

// State of the process, as standard output is.
int first_failure = 0;               // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
void (*pipe_handler)(int) = SIG_IGN; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

} // namespace

void prepare_console() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
        // The lowest free number, which is this one, for the other direction.
        (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
    pipe_handler = std::signal(SIGPIPE, SIG_IGN);
    (void)std::signal(SIGXFSZ, SIG_IGN);
}

void print(std::FILE* out, std::string_view text) {
    print_raw(out, printable(text));
}

void print_raw(std::FILE* out, std::string_view bytes) {
    errno = 0;
    const bool failed = std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size();
    if (failed && out == stdout && first_failure == 0) first_failure = errno;
}

void finish_console() {
    errno = 0;
    const bool failed = std::fflush(stdout) != 0;
    if (failed && first_failure == 0) first_failure = errno;
    if (first_failure == 0 && std::ferror(stdout) == 0) return;
    if (first_failure == EPIPE && pipe_handler == SIG_DFL) {
        (void)std::signal(SIGPIPE, SIG_DFL);
        (void)std::raise(SIGPIPE);
    }
    throw input_error("standard output can't be written: " +
                      std::generic_category().message(first_failure == 0 ? EIO : first_failure));
}

} // namespace krylith::tool
