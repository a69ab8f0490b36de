// A queue of copies beside a device's stream.
#pragma once

#include <cstddef>
#include <memory>

namespace krylith {

class event;
class device;

/// On CUDA a stream, on host devices a worker thread with a queue of its own. What it is given runs
/// in this order, asynchronously to the host and to the device's stream. Copies behind an event
/// whose device failed are left out: the failure is reported by that device.
class side_queue {
public:
    virtual ~side_queue() = default;
    /// Later copies run after the event, which is of a device or side queue of the same kind.
    virtual void wait(event& happened) = 0;
    /// From memory of the device that the queue belongs to into that of another.
    virtual void copy(const void* from, device& to, void* target, std::size_t bytes) = 0;
    /// After the copies given so far.
    [[nodiscard]] virtual std::shared_ptr<event> record() = 0;
};

} // namespace krylith
