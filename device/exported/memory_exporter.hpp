// Memory of a device that other processes of the machine map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <krylith/device/error.hpp>

namespace krylith {

/// A piece of memory as other processes are told of it: plain data.
struct exported_piece {
    std::uint64_t id = 0;       ///< the exporter's; 0: it can't be exported
    std::byte* begin = nullptr; ///< where the exporter has it
    std::uint64_t bytes = 0;
    std::array<std::byte, 64> name{}; ///< for map(): CUDA's handle, or a place in a file of memory
};

class memory_exporter {
public:
    memory_exporter() = default;
    memory_exporter(const memory_exporter&) = delete;
    memory_exporter& operator=(const memory_exporter&) = delete;
    virtual ~memory_exporter() = default;

    /// Memory that the device allocates from now on can be exported. Throws device_error where the
    /// system can't do that, and usage_error until end() has been called: others are told of what
    /// is given back once.
    virtual void begin() = 0;
    virtual void end() noexcept = 0;
    /// Returns the piece that memory of the device lies in. Its id is 0 where it is no memory of
    /// the device, or was allocated before begin().
    [[nodiscard]] virtual exported_piece piece_of(const void* memory) = 0;
    /// Returns the ids of pieces that piece_of() has returned and that the device no longer has:
    /// others should unmap them. They are returned until told().
    [[nodiscard]] virtual std::vector<std::uint64_t> withdrawn() = 0;
    /// All others know of what withdrawn() has returned last, and have unmapped what it had
    /// returned before the call of told() before this one.
    virtual void told() noexcept = 0;

    /// Maps a piece of another process's device, or of another device of this process, for this
    /// device. Throws device_error where that isn't possible, as between machines or containers.
    [[nodiscard]] virtual std::byte* map(const exported_piece& piece) = 0;
    virtual void unmap(std::byte* mapped, const exported_piece& piece) noexcept = 0;

protected:
    [[noreturn]] static void refuse_second() {
        throw usage_error("a device can be of one communicator of processes at a time: copies of "
                          "that one refer to the same ranks");
    }
};

} // namespace krylith
