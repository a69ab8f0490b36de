#include <krylith/tools/solve/solve_watch.hpp>

#include <fmt/format.h>

#include <krylith/tools/cli/console.hpp>

namespace krylith::tool {

void solve_watch::say(const std::string& lines) const {
    if (request_.quiet) return;
    print(request_.out, lines);
    flush(request_.out); // a reader at the end of a pipe waits for them
}

void solve_watch::monitor(const progress& now) const {
    if (now.iteration == 0) print(request_.out, "iteration     residual relative residual\n");
    print(request_.out, fmt::format("{:>9} {:>12.6e} {:>17.6e}\n", now.iteration, now.residual,
                                    now.residual / (now.rhs_norm > 0 ? now.rhs_norm : 1)));
    flush(request_.out);
}

solve_watch::running::running(const solve_watch& watch, solver_options& options)
    : signals_(source_), line_(!watch.request_.quiet && !watch.request_.monitor) {
    options.stop = source_.get_token();
    options.callback_interval = watch.request_.monitor.value_or(1);
    if (watch.request_.monitor && !watch.request_.quiet)
        options.callback = [&watch](const progress& now) { watch.monitor(now); };
    else if (line_.wanted())
        options.callback = [this](const progress& now) { line_.show(now); };
}

} // namespace krylith::tool
