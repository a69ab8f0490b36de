// The CUDA side of device/, as seen by a host compiler. Defined where KRYLITH_HAVE_CUDA is 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/device.hpp>

namespace krylith {
class staging_wire;
} // namespace krylith

namespace krylith::cuda {

/// The number of GPUs; 0 without driver or GPU.
[[nodiscard]] int device_count() noexcept;

/// The newest CUDA that the driver supports: 12040 for 12.4.
[[nodiscard]] int driver_version() noexcept;

/// Makes the devices of a group. `streams` is empty, or has one an ordinal: a cudaStream_t to
/// borrow, or null; where it is none, the device makes its own.
[[nodiscard]] std::vector<std::shared_ptr<device>> make_devices(std::span<const int> ordinals,
                                                                std::span<void* const> streams);

/// Returns whether kernels of `from` can store into memory of `to`, and enables it. A device can
/// store into its own memory.
[[nodiscard]] bool enable_peer_access(int from, int to);

/// Copies to a device by its ordinal, in the order of the stream of `from`, with or without peer
/// access.
void copy_across(device& from, const void* source, int to, void* target, std::size_t bytes);

/// The cudaStream_t of a CUDA device.
[[nodiscard]] void* stream_of(device& device);

/// The number of multiprocessors, for grid sizes.
[[nodiscard]] int multiprocessors(const device& device);

/// The compute capability: 90 for 9.0.
[[nodiscard]] int compute_capability(const device& device);

/// The folder of a CUDA device below /sys/bus/pci/devices: "0000:17:00.0".
[[nodiscard]] std::string pci_bus_id(const device& device);

/// The ordinal of the device in such a folder; -1 where this process doesn't see it.
[[nodiscard]] int ordinal_of(const char* pci_bus_id) noexcept;

/// Pins whole pages of host memory: all CUDA devices can read and write them until they are
/// unpinned. `device` is one in use, since any other would be woken up. Throws device_error.
void pin_host_memory(const device& device, void* pointer, std::size_t bytes);
void unpin_host_memory(const device& device, void* pointer) noexcept;

/// krylith::download_numbers() (distributed/products) on a CUDA device.
[[nodiscard]] std::vector<std::int64_t>
download_numbers(device& on, std::span<const std::int64_t* const> places);

/// The ring of pinned memory through which `bytes` between `host` memory (null: any pageable
/// memory) and the device travel fastest. It is null where a copy by the runtime is as fast: few
/// bytes, and memory that is pinned already; and where no memory could be pinned, or a loop is
/// being recorded. The ring (16 MiB) is made at the first use and kept with the device.
[[nodiscard]] staging_wire* staging_for(device& device, const void* host, std::size_t bytes);

/// Begin a copy of the runtime in stream order. Host memory may be used, or used again, when the
/// device has been waited for.
void begin_upload(device& device, void* to, const void* from, std::size_t bytes);
void begin_download(device& device, void* to, const void* from, std::size_t bytes);

/// Host memory, all 0, that kernels of all CUDA devices can write (posted_words.hpp).
[[nodiscard]] void* allocate_post(const device& device, std::size_t bytes);
/// Frees the memory after it has waited for the device's work.
void free_post(device& device, void* memory) noexcept;
/// The same where no kernel uses it any more, without a wait.
void free_idle_post(void* memory) noexcept;
/// Waits until `number` is at `posted`. Throws device_error where the device has failed, or has
/// done all work that was given to it and `number` is not there.
void wait_for_post(device& device, const std::uint64_t* posted, std::uint64_t number);

} // namespace krylith::cuda
