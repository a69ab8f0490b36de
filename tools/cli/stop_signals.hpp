// SIGINT and SIGTERM as requests to stop what the command is at.
#pragma once

#include <stop_token>
#include <thread>

namespace krylith::tool {

/// While one lives, the first SIGINT or SIGTERM requests the stop and no more; another one, a tenth
/// of a second later or more, does what the first would do otherwise. Signals that the caller had
/// ignored (nohup) stay ignored. One at a time.
class stop_signals {
public:
    explicit stop_signals(std::stop_source source);
    stop_signals(const stop_signals&) = delete;
    stop_signals& operator=(const stop_signals&) = delete;
    ~stop_signals();

private:
    std::jthread messenger_; ///< a handler may not call request_stop(), so that a thread does it
};

} // namespace krylith::tool
