#include "interpreter_lock.hpp"

#include <chrono>
#include <thread>

namespace krylith::python {

void stay_until_exit() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

without_lock::~without_lock() {
    outliving_python([this] { PyEval_RestoreThread(state_); });
}

with_lock::with_lock() : state_(outliving_python([] { return PyGILState_Ensure(); })) {}

} // namespace krylith::python
