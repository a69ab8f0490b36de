// What Python does while a solve runs: callbacks, and Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <nanobind/nanobind.h>

#include <krylith/comm/communicator.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/solvers/options.hpp>
#include <krylith/solvers/result.hpp>

namespace krylith::python {

namespace nb = nanobind;

/// Calls a function of Python from another thread or from within a solve. What it raises is kept,
/// and thrown again once the solve has ended: it must not travel through the library, which may
/// take it for a failure of a device.
class kept_failure {
public:
    [[nodiscard]] explicit operator bool() const { return failure_ != nullptr; }
    /// Runs `call` with Python's lock. Returns false where it raised.
    bool run(const std::function<void()>& call);
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }
    void clear() { failure_ = nullptr; }

private:
    std::exception_ptr failure_;
};

/// The callback of one solve.
class solve_watch {
public:
    /// `callback` is None or is called with what `type` says: "x" with a copy of the iterate,
    /// "pr_norm" with ||r|| / ||b||, "progress" with iteration, ||r||, the norm at which the solve
    /// stops, and ||b||. With `signals` the thread looks for Ctrl-C, 20 times a second.
    solve_watch(nb::object callback, std::string type, bool signals);

    /// Makes the solve with these options call this. `iterate` returns a copy of x. Collective, and
    /// each process has callbacks of its own, or none.
    void attach(solver_options& options, const communicator& comm,
                std::function<nb::object()> iterate);
    /// Throws what the callback raised, or KeyboardInterrupt.
    void finish() const { failure_.rethrow(); }

private:
    [[nodiscard]] next_step look(const progress& now);
    [[nodiscard]] bool call(const progress& now);

    nb::object callback_;
    std::string type_;
    bool signals_;
    std::function<nb::object()> iterate_;
    std::int64_t last_ = 0;
    std::chrono::steady_clock::time_point checked_ = std::chrono::steady_clock::now();
    bool stopped_ = false;
    kept_failure failure_;
};

/// While it lives, set-up that this thread runs without Python's lock looks for Ctrl-C, 20 times a
/// second where it can, and ends with interrupted_error where a handler of Python raises.
class set_up_watch {
public:
    set_up_watch();
    ~set_up_watch();
    /// Throws what a handler raised in this thread, if one did since the last watch began.
    static void rethrow();

private:
    [[nodiscard]] bool look();

    std::thread::id owner_ = std::this_thread::get_id();
    std::chrono::steady_clock::time_point checked_ = std::chrono::steady_clock::now();
    std::atomic<bool> raised_ = false;
    interruption ends_;
};

/// Runs a solve that takes a stop token but no callback in a thread of its own, so that this one
/// can look for Ctrl-C. Called without Python's lock.
[[nodiscard]] std::vector<solve_result>
interruptible(solver_options& options, const std::function<std::vector<solve_result>()>& solve);

} // namespace krylith::python
