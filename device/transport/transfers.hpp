// Transfers between host memory and several devices, side by side.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <krylith/device/device.hpp>

namespace krylith {

/// A function that writes, or takes, bytes [first, first + count) of a transfer: `piece` is the
/// address of byte `first`. Several threads call it at once for disjoint pieces, which begin and
/// end at multiples of 64 bytes, the end of all excepted. It may not throw.
template <class Byte>
using transfer_function = std::function<void(Byte* piece, std::size_t first, std::size_t count)>;

/// Bytes for a device.
struct upload_request {
    krylith::device* device;
    void* to;         ///< on the device
    const void* from; ///< in host memory
    std::size_t bytes;
    /// Where it is set, it writes the bytes, as one that gathers them from elsewhere, and `from` is
    /// not looked at.
    transfer_function<std::byte> write = nullptr;
};

/// Bytes of a device.
struct download_request {
    krylith::device* device;
    void* to;         ///< in host memory
    const void* from; ///< on the device
    std::size_t bytes;
    /// Where it is set, it takes the bytes, and `to` is not looked at.
    transfer_function<const std::byte> take = nullptr;
};

/// Does what device::upload does for each request, in stream order, and returns when all host
/// memory may be reused. Links of different devices are busy at once, and all threads serve all
/// links. The devices are of one kind. Throws device_error as upload does; the requests may then
/// have been done in part, and none of them reads host memory any more.
void upload_together(std::span<const upload_request> requests);

/// Does what device::download does for each request: returns when all bytes are in host memory.
void download_together(std::span<const download_request> requests);

} // namespace krylith
