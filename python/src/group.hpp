// Devices, and links to other processes, as Python holds them.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <type_traits>

#include <nanobind/nanobind.h>

#include <krylith/comm/communicator.hpp>

#include "interpreter_lock.hpp"
#include "watch.hpp"

namespace krylith::python {

namespace nb = nanobind;

/// Devices of this process, and of others that solve together with it.
struct group_handle {
    communicator comm;
    std::atomic<bool> busy = false;
};

/// Holds the devices of a group for one call, and Python's lock not. A group that is busy is an
/// error rather than a wait: the call may come from a callback of the solve that holds it.
class driving {
public:
    explicit driving(group_handle& handle);
    ~driving() { handle_.busy = false; }
    driving(const driving&) = delete;
    driving& operator=(const driving&) = delete;

private:
    group_handle& handle_;
    without_lock released_;
    set_up_watch signals_;
    // Two recorded loops that wait for each other's kernels must not share GPUs.
    std::optional<std::unique_lock<std::recursive_mutex>> gpus_;
};

/// Returns what work() returns, called so. Where it throws in one of several processes, it does so
/// in all of them.
template <class Work>
std::invoke_result_t<const Work&> drive(group_handle& handle, const Work& work) {
    const driving devices(handle);
    return handle.comm.together(work);
}

/// Throws as `driving` does where the devices are busy. Who then keeps Python's lock reads what no
/// other thread is changing.
void check_idle(const group_handle& handle);

void bind_group(nb::module_& m);

} // namespace krylith::python
