// The options of a solve.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string_view>
#include <type_traits>

#include <krylith/solvers/options/solve_callback.hpp>
#include <krylith/vector/execution.hpp>

namespace krylith {

/// The side of A on which the preconditioner stands. Convergence is judged by ||b - A x|| on all.
enum class side {
    left,  ///< M^-1 A x = M^-1 b
    right, ///< A M^-1 (M x) = b
    split  ///< M1^-1 A M2^-1 (M2 x) = M1^-1 b with M = M1 M2
};

/// "left", "right", "split".
[[nodiscard]] const char* to_string(side where) noexcept;

enum class failure_policy {
    status,     ///< a solve that doesn't converge returns its reason
    throw_error ///< a solve that doesn't converge throws not_converged
};

/// The rtol of a solve that names none: about half the digits of fp64, and five of the seven of
/// fp32, which well-conditioned systems reach.
template <class T>
[[nodiscard]] constexpr double default_rtol() noexcept {
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>);
    return std::is_same_v<T, float> ? 1e-5 : 1e-8;
}

/// The options of a solve. Converged means ||b - A x||_2 <= max(rtol ||b||_2, atol), with lsqr()
/// also ||A'(b - A x)||_2 <= rtol_normal ||A||_2 ||b - A x||_2.
struct solver_options {
    std::optional<double> rtol = {};        ///< 0 <= rtol < 1; none: default_rtol of A's type
    double atol = 0;                        ///< >= 0
    std::optional<double> rtol_normal = {}; ///< LSQR: 0 <= rtol_normal < 1; none: rtol
    double damping = 0; ///< LSQR: 0 <= d < 1e150; minimises ||b - A x||^2 + d^2 ||x||^2
    std::int64_t max_iterations = -1;      ///< -1: min(10 n, 10000), n columns; 0: only check x0
    int restart = 30;                      ///< GMRES: basis vectors; at most n and 1000 are used
    int polynomial_degree = 2;             ///< BiCGStab(l): l, 1 to 3
    int shadow_vectors = 4;                ///< IDR(s): s, 1 to 100; at most n are used
    bool initial_guess = false;            ///< start from x as given; otherwise from 0
    side preconditioning = side::right;    ///< GMRES, BiCGStab, BiCGStab(l); CG is always split in
                                           ///< effect, the others have M on the right
    double divergence_tolerance = 1e10;    ///< give up when ||r|| exceeds this times the larger of
                                           ///< ||b|| and the residual that the solve began with
    std::int64_t stagnation_window = 5000; ///< iterations without progress that count as
                                           ///< stagnation, but for LSQR and what restarts (GMRES)
    double stagnation_gain = 0.99; ///< progress: iteration 1, and where ||r|| falls below this
                                   ///< times what it was at the last; 0.001 to 1
    bool history = false; ///< keep the residual of each iteration, and with cg() estimate the
                          ///< spectrum: 8 bytes an iteration, 24 with cg(), on the host, and on the
                          ///< first device for max_iterations, at most 2^20
    /// Is called first (iteration 0), every callback_interval iterations and last, in order, by the
    /// thread that solves. The devices don't wait for it, so x must not be looked at, and the solve
    /// that it stops ends some iterations later, at the end of a trip of the devices' loop. Of
    /// several drivers each calls its own, unless it has none, and what one of them says ends the
    /// solve of all. It must not call collective functions (comm/communicator.hpp).
    solve_callback callback = {};
    std::int64_t callback_interval = 100;
    /// The devices wait for each call and are launched again after it. x is the iterate (with
    /// gmres() that of the last restart), and the solve ends there where the callback says stop.
    bool callback_pauses = false;
    /// A stop that is requested, by any thread, ends the solve with reason::interrupted at the end
    /// of a trip.
    std::stop_token stop = {};
    /// Seconds from the call on after which the solve ends with reason::time_limit at the end of a
    /// trip; >= 0.
    double max_seconds = std::numeric_limits<double>::infinity();
    failure_policy on_failure = failure_policy::status;
    execution_mode mode = execution_mode::automatic;
    int unroll = 16;             ///< iterations recorded in one trip of the device's loop
    double timeout_seconds = 20; ///< how long devices wait for each other, at most longest_timeout

    /// Throws usage_error naming the first value that is not allowed.
    void check() const;
    /// The same for a solver without damping, which refuses others than 0 by its name.
    void check_undamped(std::string_view solver) const;
};

/// Returns the options with rtol set, to the default of T where there was none, and rtol_normal.
template <class T>
[[nodiscard]] solver_options resolved(solver_options options) {
    if (!options.rtol) options.rtol = default_rtol<T>();
    if (!options.rtol_normal) options.rtol_normal = options.rtol;
    return options;
}

} // namespace krylith
