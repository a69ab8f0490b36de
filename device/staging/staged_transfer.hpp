// Transfers between pageable host memory and devices, at the rate of the links.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include <krylith/device/staging/staging_wire.hpp>

namespace krylith {

/// Bytes that travel through the slots of a wire. Requests of one wire travel in their order, those
/// of different wires side by side.
struct staged_request {
    staging_wire* wire;
    std::byte* on_device; ///< the address of the first byte on the device
    std::size_t bytes;
    /// Moves bytes [first, first + count) between host memory and `staging`. All threads call it,
    /// several at once, for pieces that are disjoint and begin at multiples of `staged_piece`. It
    /// may not throw.
    std::function<void(std::byte* staging, std::size_t first, std::size_t count)> move;
};

/// The bytes that one thread moves at a time: small enough to stay in a core's cache, and enough
/// for some 10 us, so that threads rarely meet.
inline constexpr std::size_t staged_piece = std::size_t{64} << 10;

/// Copies a piece into staging memory, which is aligned to 64 bytes, past the caches: the copy
/// engine reads main memory at 52 GB/s, and lines that other cores have changed at 28 to 39 (H200).
void write_staging(std::byte* staging, const std::byte* from, std::size_t bytes) noexcept;
/// Copies a piece out of staging memory.
void read_staging(std::byte* to, const std::byte* staging, std::size_t bytes) noexcept;

/// Fills slots by up to `threads` threads and sends them, while the copy engines work on those that
/// were filled before. When it returns, host memory may be reused; the last slots may still be on
/// their way, in the order of the devices' streams. Throws device_error where a device fails; what
/// has arrived then is undefined. The calling thread is one of the threads and makes all calls of
/// wires.
void staged_upload(std::span<const staged_request> requests, int threads);

/// The other way round: it returns when all bytes are in host memory.
void staged_download(std::span<const staged_request> requests, int threads);

/// The threads a link that are of use: 8 copy as fast as a link of 55 GB/s takes it, more only keep
/// more of the slots in their caches. Those that gather wait for memory.
inline constexpr int copying_threads = 8;
inline constexpr int gathering_threads = 16;

/// The number of threads for transfers: so many a link, as far as there are cores for them and
/// OpenMP may have them (OMP_NUM_THREADS, omp_set_num_threads). In a parallel region it is 1.
[[nodiscard]] int staging_threads(std::size_t links, int a_link) noexcept;

} // namespace krylith
