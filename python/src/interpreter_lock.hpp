// Python's lock, for threads that may outlive the interpreter.
//
// When the interpreter ends, Python up to 3.13 ends each thread that asks for its lock by unwinding
// the thread's stack, which destructors and the library's own handlers would turn into an abort of
// the process. Here such a thread stays where it is until the process has gone, as Python 3.14
// has it.
#pragma once

#include <type_traits>

#include <cxxabi.h>

#include <nanobind/nanobind.h>

namespace krylith::python {

[[noreturn]] void stay_until_exit();

/// Returns what `call` returns, or throws what it throws; never returns where Python ends the
/// thread.
template <class Call>
std::invoke_result_t<Call> outliving_python(const Call& call) {
    try {
        return call();
    } catch (const abi::__forced_unwind&) {
        stay_until_exit();
    }
}

/// Gives the lock away for as long as it lives.
class without_lock {
public:
    without_lock() : state_(PyEval_SaveThread()) {}
    ~without_lock();
    without_lock(const without_lock&) = delete;
    without_lock& operator=(const without_lock&) = delete;

private:
    PyThreadState* state_;
};

/// Has the lock for as long as it lives, on any thread.
class with_lock {
public:
    with_lock();
    ~with_lock() { PyGILState_Release(state_); }
    with_lock(const with_lock&) = delete;
    with_lock& operator=(const with_lock&) = delete;

private:
    PyGILState_STATE state_;
};

} // namespace krylith::python
