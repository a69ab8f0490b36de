#include "watch.hpp"
#include "interpreter_lock.hpp"

#include <future>
#include <stop_token>
#include <utility>

namespace krylith::python {

namespace {

using namespace std::chrono_literals;
constexpr auto between_looks = 50ms;

void raise_pending() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

thread_local kept_failure raised_in_set_up;

} // namespace

bool kept_failure::run(const std::function<void()>& call) {
    const with_lock locked;
    try {
        outliving_python(call);
        return true;
    } catch (...) {
        failure_ = std::current_exception();
        return false;
    }
}

solve_watch::solve_watch(nb::object callback, std::string type, bool signals)
    : callback_(std::move(callback)), type_(std::move(type)), signals_(signals) {}

void solve_watch::attach(solver_options& options, const communicator& comm,
                         std::function<nb::object()> iterate) {
    const bool called = !callback_.is_none();
    options.callback_pauses = comm.any(called && type_ == "x");
    // Ctrl-C is looked for at each trip, which is 16 iterations.
    options.callback_interval = comm.any(called) ? 1 : 16;
    if (!called && !signals_) return;
    iterate_ = std::move(iterate);
    options.callback = [this](const progress& now) { return look(now); };
}

next_step solve_watch::look(const progress& now) {
    const auto time = std::chrono::steady_clock::now();
    const bool wanted = !callback_.is_none() && now.iteration > last_;
    const bool due = signals_ && time - checked_ >= between_looks;
    if (!stopped_ && (wanted || due)) {
        const bool well = failure_.run([&] {
            if (due) raise_pending();
            if (wanted && !call(now)) stopped_ = true;
        });
        if (due) checked_ = time;
        last_ = now.iteration;
        stopped_ = stopped_ || !well;
    }
    return stopped_ ? next_step::stop : next_step::go;
}

bool solve_watch::call(const progress& now) {
    try {
        if (type_ == "x")
            callback_(iterate_());
        else if (type_ == "pr_norm")
            callback_(now.rhs_norm > 0 ? now.residual / now.rhs_norm : now.residual);
        else
            callback_(now.iteration, now.residual, now.target, now.rhs_norm);
        return true;
    } catch (nb::python_error& e) {
        if (!e.matches(PyExc_StopIteration)) throw;
        return false;
    }
}

set_up_watch::set_up_watch() : ends_([this] { return look(); }) {
    raised_in_set_up.clear();
}

/// Nobody asks for what was raised where set-up ended without an exception.
set_up_watch::~set_up_watch() {
    if (std::uncaught_exceptions() == 0) raised_in_set_up.clear();
}

void set_up_watch::rethrow() {
    const kept_failure raised = std::exchange(raised_in_set_up, {});
    raised.rethrow();
}

/// Python runs handlers in its main thread alone; threads that work for this one are told.
bool set_up_watch::look() {
    const auto time = std::chrono::steady_clock::now();
    if (raised_ || std::this_thread::get_id() != owner_ || time - checked_ < between_looks)
        return raised_;
    checked_ = time;
    raised_ = !raised_in_set_up.run(raise_pending);
    return raised_;
}

std::vector<solve_result> interruptible(solver_options& options,
                                        const std::function<std::vector<solve_result>()>& solve) {
    std::stop_source stop;
    options.stop = stop.get_token();
    kept_failure failure;
    auto result = std::async(std::launch::async, solve);
    while (result.wait_for(between_looks) != std::future_status::ready)
        if (!failure && !failure.run(raise_pending)) stop.request_stop();
    options.stop = {};
    auto results = result.get();
    failure.rethrow();
    return results;
}

} // namespace krylith::python
