#include <krylith/solvers/iteration/agreed_options.hpp>

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include <krylith/comm/exchange/alike.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

namespace {

/// How a driver looks at the solve while it runs.
struct watch {
    bool calls = false;
    bool may_stop = false;
    bool pauses = false;
    std::int64_t interval = 0;
    double max_seconds = 0;
};

const char* mode_name(execution_mode mode) {
    switch (mode) {
    case execution_mode::recorded: return "recorded";
    case execution_mode::eager: return "eager";
    default: return "automatic";
    }
}

std::vector<named_fact> facts_of(const solver_options& o, std::string_view solver) {
    const auto number = [](double value) { return number_text(value); };
    return {{"solver", std::string(solver)},
            {"rtol", number(o.rtol.value_or(-1))},
            {"atol", number(o.atol)},
            {"rtol_normal", number(o.rtol_normal.value_or(-1))},
            {"damping", number(o.damping)},
            {"max_iterations", std::to_string(o.max_iterations)},
            {"restart", std::to_string(o.restart)},
            {"polynomial_degree", std::to_string(o.polynomial_degree)},
            {"shadow_vectors", std::to_string(o.shadow_vectors)},
            {"initial_guess", o.initial_guess ? "true" : "false"},
            {"preconditioning", to_string(o.preconditioning)},
            {"divergence_tolerance", number(o.divergence_tolerance)},
            {"stagnation_window", std::to_string(o.stagnation_window)},
            {"stagnation_gain", number(o.stagnation_gain)},
            {"history", o.history ? "true" : "false"},
            {"on_failure", o.on_failure == failure_policy::throw_error ? "throw_error" : "status"},
            {"mode", mode_name(o.mode)},
            {"unroll", std::to_string(o.unroll)},
            {"timeout_seconds", number(o.timeout_seconds)}};
}

} // namespace

solver_options agreed_options(const communicator& comm, solver_options options,
                              std::string_view solver) {
    if (comm.has_one_driver()) return options;
    require_alike(comm, "solver options", [&] { return facts_of(options, solver); });
    auto all = by_rank(comm, [&](int) {
        return watch{static_cast<bool>(options.callback), options.stop.stop_possible(),
                     options.callback_pauses, options.callback_interval, options.max_seconds};
    });
    comm.all_gather(all);
    const auto caller = std::ranges::find_if(all, &watch::calls);
    for (const watch& one : all) {
        if (one.calls && (one.pauses != caller->pauses || one.interval != caller->interval))
            throw usage_error("solver options: the callbacks of all drivers must have the same "
                              "callback_interval and callback_pauses");
        options.max_seconds = std::min(options.max_seconds, one.max_seconds);
    }
    if (caller != all.end() && !options.callback) {
        options.callback = [](const progress&) {};
        options.callback_pauses = caller->pauses;
        options.callback_interval = caller->interval;
    }
    static const std::stop_source never;
    if (!options.stop.stop_possible() && std::ranges::any_of(all, &watch::may_stop))
        options.stop = never.get_token();
    return options;
}

} // namespace krylith
