// What `krylith solve` says while it works, and how it is stopped.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <string>

#include <krylith/solvers/options.hpp>
#include <krylith/tools/cli/progress_line.hpp>
#include <krylith/tools/cli/stop_signals.hpp>

namespace krylith::tool {

struct watch_request {
    std::optional<std::int64_t> monitor; ///< a line every so many iterations
    bool quiet = false;                  ///< nothing is said
    std::FILE* out = stdout;             ///< where the summary goes
};

class solve_watch {
public:
    explicit solve_watch(const watch_request& request) : request_(request) {}

    /// Lines of the summary, as soon as they are known.
    void say(const std::string& lines) const;
    [[nodiscard]] bool quiet() const { return request_.quiet; }
    /// Whether lines of iterations are printed.
    [[nodiscard]] bool monitors() const { return request_.monitor.has_value(); }

    /// While it lives, signals stop the solve, and its progress is shown.
    class running {
    public:
        /// Sets the callback and the token of `options`; it must outlive their solve.
        running(const solve_watch& watch, solver_options& options);

    private:
        std::stop_source source_;
        stop_signals signals_;
        progress_line line_;
    };

private:
    void monitor(const progress& now) const;

    watch_request request_;
};

} // namespace krylith::tool
