#include <krylith/tools/cli/interruption.hpp>

#include <csignal>

#include <krylith/matrix/files/unfinished_files.hpp>

namespace krylith::tool {

namespace {

extern "C" void clean_up(int signal) {
    remove_unfinished_files();
    // The default action is back (SA_RESETHAND), and follows when this handler returns.
    (void)raise(signal);
}

} // namespace

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

} // namespace krylith::tool
