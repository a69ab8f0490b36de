// How a program watches a solve, and stops it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// What a callback receives.
struct progress {
    std::int64_t iteration; ///< 0: before the first
    double residual;        ///< ||r||_2 by the recurrence
    double target;          ///< the residual norm at which the loop stops
    double rhs_norm;        ///< ||b||_2
};

/// What a callback answers.
enum class next_step {
    go,
    stop ///< end the solve with reason::stopped_by_user
};

/// A function of a progress that returns next_step, or nothing, which means go.
class solve_callback {
public:
    solve_callback() = default;

    template <class Function>
    requires(!std::same_as<std::remove_cvref_t<Function>, solve_callback> &&
             std::invocable<Function&, const progress&>)
        solve_callback(
            Function function) { // NOLINT(google-explicit-constructor): a callable is one
        if constexpr (requires { static_cast<bool>(function == nullptr); })
            if (function == nullptr) return;
        using answer = std::invoke_result_t<Function&, const progress&>;
        static_assert(std::same_as<answer, next_step> || std::is_void_v<answer>,
                      "a callback returns next_step or nothing");
        call_ = [function = std::move(function)](const progress& now) mutable {
            if constexpr (std::is_void_v<answer>) {
                function(now);
                return next_step::go;
            } else {
                return function(now);
            }
        };
    }

    /// Whether there is a function.
    explicit operator bool() const noexcept { return static_cast<bool>(call_); }
    next_step operator()(const progress& now) const { return call_(now); }

private:
    std::function<next_step(const progress&)> call_;
};

} // namespace krylith
