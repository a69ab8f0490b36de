// Copies between the host and a CUDA device beside its stream, from and to any host memory.
#pragma once

#include <cstddef>
#include <memory>

#include <krylith/spmv/streaming/streamed_device.hpp>

namespace krylith::cuda {

/// One direction of the link of a device: copies in the order given.
class streamed_copies {
public:
    virtual ~streamed_copies() = default;

    /// Later copies run after the event.
    virtual void wait(event& happened) = 0;
    /// Returns an event that happens after the copies so far.
    [[nodiscard]] virtual std::shared_ptr<event> record() = 0;

    /// Copies to the device. Pinned memory is read after the call has returned; pageable memory
    /// during it: a few threads copy it into pinned memory on the device's node, 4 MB while the 4
    /// MB before them travel.
    virtual void send(void* to, const void* from, std::size_t bytes) = 0;

    /// Announces what is fetched until the next collect(), all of it into these bytes of the host:
    /// makes room on the device's node where they are pageable.
    virtual void reserve_fetched(const void* to, std::size_t bytes) = 0;
    /// Copies from the device into `to`, which may be read only after collect().
    virtual void fetch(void* to, const void* from, std::size_t bytes) = 0;
    /// Waits for all copies; what was fetched for pageable memory is moved there.
    virtual void collect() = 0;

    /// Waits, whatever became of the copies.
    virtual void settle() noexcept = 0;
};

[[nodiscard]] std::unique_ptr<streamed_copies> make_streamed_copies(const streamed_place& place);

} // namespace krylith::cuda
