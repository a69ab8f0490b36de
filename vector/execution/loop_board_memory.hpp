// The memory in which a loop and the host that watches it write to each other.
#pragma once

#include <memory>

#include <krylith/device/device.hpp>
#include <krylith/vector/execution/loop_watch.hpp>

namespace krylith {

/// The board that rank 0 of an execution posts to.
class loop_board_memory {
public:
    /// Throws device_error where there is no such memory.
    explicit loop_board_memory(std::shared_ptr<device> device);
    loop_board_memory(const loop_board_memory&) = delete;
    loop_board_memory& operator=(const loop_board_memory&) = delete;
    ~loop_board_memory();
    [[nodiscard]] loop_board& board() const noexcept { return *board_; }
    [[nodiscard]] loop_bell* bell() noexcept;

private:
    std::shared_ptr<device> device_;
    loop_board* board_ = nullptr;
    loop_bell bell_;
};

} // namespace krylith
