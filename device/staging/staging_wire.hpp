// Pinned memory between pageable host memory and one device.
#pragma once

#include <cstddef>
#include <mutex>

namespace krylith {

/// A ring of equal blocks of pinned host memory, its *slots*, that the copy engines of one device
/// read and write at the full rate of the link. What is sent and fetched runs in the order of the
/// device's stream. One host thread at a time calls it, the one that has its turn; any thread may
/// use a slot's memory while the slot is idle.
class staging_wire {
public:
    virtual ~staging_wire() = default;
    [[nodiscard]] virtual int slots() const noexcept = 0; ///< at least 2
    [[nodiscard]] virtual std::size_t slot_bytes() const noexcept = 0;
    [[nodiscard]] virtual std::byte* slot(int number) const noexcept = 0;

    /// Begins a copy of the slot's first bytes to the device, and returns.
    virtual void send(int slot, void* to, std::size_t bytes) = 0;
    /// Begins a copy from the device into the slot, and returns.
    virtual void fetch(int slot, const void* from, std::size_t bytes) = 0;
    /// Returns whether the last copy of the slot is over; true where there was none. Throws
    /// device_error where the device has failed.
    [[nodiscard]] virtual bool idle(int slot) = 0;

    /// A transfer holds it while it uses the slots: other threads' transfers wait.
    [[nodiscard]] std::mutex& turn() noexcept { return turn_; }

private:
    std::mutex turn_;
};

} // namespace krylith
