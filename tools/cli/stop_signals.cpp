#include <krylith/tools/cli/stop_signals.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <utility>

namespace krylith::tool {

namespace {

constexpr std::array signals = {SIGINT, SIGTERM};
constexpr std::chrono::milliseconds look_interval{10};
constexpr std::chrono::milliseconds same_request{100};

// What a handler may use: it has no argument but the signal.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> arrived = false;
static_assert(std::atomic<bool>::is_always_lock_free);
std::array<struct sigaction, signals.size()> before;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void restore() {
    for (std::size_t i = 0; i < signals.size(); ++i)
        (void)sigaction(signals[i], &before[i], nullptr);
}

extern "C" void note_signal(int) {
    arrived.store(true, std::memory_order_relaxed);
}

} // namespace

stop_signals::stop_signals(std::stop_source source) {
    arrived = false;
    for (std::size_t i = 0; i < signals.size(); ++i)
        (void)sigaction(signals[i], nullptr, &before[i]);
    messenger_ = std::jthread([source = std::move(source)](const std::stop_token& end) mutable {
        std::mutex lock;
        std::condition_variable_any ended;
        std::unique_lock held(lock);
        while (!end.stop_requested() && !arrived.load(std::memory_order_relaxed))
            (void)ended.wait_for(held, end, look_interval, [] { return false; });
        if (!arrived.load(std::memory_order_relaxed)) return;
        (void)source.request_stop();
        // timeout(1) signals the command, and then its whole group: that is one request.
        (void)ended.wait_for(held, end, same_request, [] { return false; });
        restore();
    });
    for (std::size_t i = 0; i < signals.size(); ++i) {
        if (before[i].sa_handler == SIG_IGN) continue;
        struct sigaction action {};
        action.sa_handler = note_signal;
        action.sa_flags = SA_RESTART;
        (void)sigaction(signals[i], &action, nullptr);
    }
}

stop_signals::~stop_signals() {
    messenger_.request_stop();
    messenger_.join(); // it may be about to restore, too
    restore();
}

} // namespace krylith::tool
