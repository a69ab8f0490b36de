#include <krylith/tools/cli/console.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <krylith/device/error.hpp>
#include <krylith/matrix/files/unfinished_files.hpp>
#include <krylith/tools/cli/printable.hpp>

namespace krylith::tool {

namespace {

// State of the process, as standard output is.
int first_failure = 0;               // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
void (*pipe_handler)(int) = SIG_IGN; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void clean_up(int signal) {
    remove_unfinished_files();
    // The default action is back (SA_RESETHAND), and follows when this handler returns.
    (void)raise(signal);
}

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

void flush(std::FILE* out) {
    errno = 0;
    const bool failed = std::fflush(out) != 0;
    if (failed && out == stdout && first_failure == 0) first_failure = errno;
}

void finish_console() {
    flush(stdout);
    if (first_failure == 0 && std::ferror(stdout) == 0) return;
    if (first_failure == EPIPE && pipe_handler == SIG_DFL) {
        (void)std::signal(SIGPIPE, SIG_DFL);
        (void)std::raise(SIGPIPE);
    }
    throw input_error("standard output can't be written: " +
                      std::generic_category().message(first_failure == 0 ? EIO : first_failure));
}

void clean_up_when_interrupted() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction before {};
        if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = clean_up;
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        (void)sigaction(signal, &action, nullptr);
    }
}

bool names_utf8(const char* locale) {
    if (locale == nullptr) return false;
    std::string letters;
    for (const char* c = locale; *c != '\0'; ++c)
        if (*c != '-') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    return letters.find("utf8") != std::string::npos;
}

terminal standard_output() {
    terminal result;
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* locale = std::getenv(variable); // NOLINT(concurrency-mt-unsafe)
        if (locale == nullptr || *locale == '\0') continue;
        result.utf8 = names_utf8(locale);
        break;
    }
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        result.columns = size.ws_col;
        result.lines = size.ws_row;
    }
    return result;
}

} // namespace krylith::tool
