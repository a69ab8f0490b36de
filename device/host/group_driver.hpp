// One host thread at a time drives a device group.
#pragma once

#include <memory>

#include <krylith/device/device_group.hpp>

namespace krylith {

/// The right to drive a group. While it lives, other threads that make one of the same group get a
/// usage_error. The thread that made it may make more (a preconditioner that solves). It may end in
/// another thread, once nobody works with the group. Thread-safe; groups that share physical
/// devices are distinct.
class group_driver {
public:
    explicit group_driver(device_group group);
    ~group_driver();
    group_driver(const group_driver&) = delete;
    group_driver& operator=(const group_driver&) = delete;

private:
    device_group group_; ///< alive as long as its entry in the table
};

} // namespace krylith
