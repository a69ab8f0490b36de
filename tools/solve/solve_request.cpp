#include <krylith/tools/solve/solve_request.hpp>

#include <array>
#include <string_view>

#include <krylith/tools/cli/choices.hpp>
#include <krylith/tools/cli/name_check.hpp>

namespace krylith::tool {

namespace {

/// Names in the order of the enumerators.
template <class Enum, std::size_t N>
Enum by_name(std::string_view what, const std::string& name,
             const std::array<std::string_view, N>& names) {
    check_name(what, name, names);
    std::size_t i = 0;
    while (names[i] != name) ++i;
    return static_cast<Enum>(i);
}

} // namespace

solver_options solve_request::options() const {
    solver_options o;
    o.rtol = rtol;
    o.atol = atol;
    o.max_iterations = max_iterations;
    o.restart = restart;
    o.initial_guess = !x0.empty();
    o.preconditioning = by_name<krylith::side>("side", side, side_names);
    o.mode = by_name<execution_mode>("execution", execution, execution_names);
    o.history = history;
    o.timeout_seconds = devices.timeout_seconds;
    o.check();
    return o;
}

} // namespace krylith::tool
