// Devices as Python holds them.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include <nanobind/nanobind.h>

#include <krylith/device/device_group.hpp>

#include "interpreter_lock.hpp"
#include "watch.hpp"

namespace krylith::python {

namespace nb = nanobind;

struct group_handle {
    device_group group;
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

/// Throws as `driving` does where the devices are busy. Who then keeps Python's lock reads what no
/// other thread is changing.
void check_idle(const group_handle& handle);

void bind_group(nb::module_& m);

} // namespace krylith::python
