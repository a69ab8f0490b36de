#include <krylith/solvers/options.hpp>

#include <string>
#include <string_view>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/number_text.hpp>

namespace krylith {

const char* to_string(side where) noexcept {
    switch (where) {
    case side::left: return "left";
    case side::right: return "right";
    case side::split: return "split";
    }
    return "unknown";
}

void solver_options::check() const {
    const auto refuse = [](const std::string& name, const std::string& value,
                           const std::string& allowed) {
        throw usage_error("solver option " + name + " = " + value + " is not allowed: " + allowed);
    };
    // The comparisons are written so that NaN is refused too.
    if (rtol && !(*rtol >= 0 && *rtol < 1)) refuse("rtol", number_text(*rtol), "0 <= rtol < 1");
    if (rtol_normal && !(*rtol_normal >= 0 && *rtol_normal < 1))
        refuse("rtol_normal", number_text(*rtol_normal), "0 <= rtol_normal < 1");
    if (!(damping >= 0 && damping < 1e150))
        refuse("damping", number_text(damping), "0 <= damping < 1e150");
    if (!(atol >= 0 && atol < 1e300)) refuse("atol", number_text(atol), "atol >= 0, finite");
    if (max_iterations < -1)
        refuse("max_iterations", std::to_string(max_iterations), "-1 (the default) or >= 0");
    if (restart < 1) refuse("restart", std::to_string(restart), "restart >= 1");
    if (polynomial_degree < 1 || polynomial_degree > 3)
        refuse("polynomial_degree", std::to_string(polynomial_degree), "1 to 3");
    if (shadow_vectors < 1 || shadow_vectors > 100)
        refuse("shadow_vectors", std::to_string(shadow_vectors), "1 to 100");
    if (!(divergence_tolerance > 1))
        refuse("divergence_tolerance", number_text(divergence_tolerance), "> 1");
    if (stagnation_window < 1)
        refuse("stagnation_window", std::to_string(stagnation_window), ">= 1");
    if (!(stagnation_gain >= 0.001 && stagnation_gain <= 1))
        refuse("stagnation_gain", number_text(stagnation_gain), "0.001 to 1");
    if (callback_interval < 1)
        refuse("callback_interval", std::to_string(callback_interval), ">= 1");
    if (!(max_seconds >= 0)) refuse("max_seconds", number_text(max_seconds), ">= 0");
    if (unroll < 1) refuse("unroll", std::to_string(unroll), ">= 1");
    if (!(timeout_seconds > 0 && timeout_seconds <= longest_timeout))
        refuse("timeout_seconds", number_text(timeout_seconds),
               "more than 0, at most " + number_text(longest_timeout));
}

void solver_options::check_undamped(std::string_view solver) const {
    check();
    if (damping != 0)
        throw usage_error(std::string(solver) + " takes no damping, and was given " +
                          number_text(damping) + ": allowed is 0; lsqr takes others");
}

} // namespace krylith
