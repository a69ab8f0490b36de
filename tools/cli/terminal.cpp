#include <krylith/tools/cli/terminal.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include <sys/ioctl.h>
#include <unistd.h>

namespace krylith::tool {

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
