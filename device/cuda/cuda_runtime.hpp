// The CUDA side of device/, as seen by a host compiler. Defined where KRYLITH_HAVE_CUDA is 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <krylith/device/device.hpp>

namespace krylith {
class block_exchange;
class device_group;
} // namespace krylith

namespace krylith::cuda {

/// 0 without driver or GPU.
[[nodiscard]] int device_count() noexcept;

/// 12040 for 12.4: the newest CUDA that the driver supports.
[[nodiscard]] int driver_version() noexcept;

/// `stream` is a cudaStream_t to borrow, or null: the device makes its own.
[[nodiscard]] std::shared_ptr<device> make_device(int ordinal, void* stream);

/// True if kernels of `from` can store into memory of `to`; enables it. Same device: true.
[[nodiscard]] bool enable_peer_access(int from, int to);

/// Ordered in the stream of `from`; with or without peer access.
void copy_across(device& from, const void* source, device& to, void* target, std::size_t bytes);

/// Of distinct GPUs. Defined where KRYLITH_HAVE_NCCL is 1.
[[nodiscard]] std::unique_ptr<block_exchange> make_nccl_exchange(const device_group& group);

/// cudaStream_t of a CUDA device.
[[nodiscard]] void* stream_of(device& device);

/// Multiprocessors, for grid sizes.
[[nodiscard]] int multiprocessors(const device& device);

/// 90 for 9.0.
[[nodiscard]] int compute_capability(const device& device);

/// "0000:17:00.0": the folder of a CUDA device below /sys/bus/pci/devices.
[[nodiscard]] std::string pci_bus_id(const device& device);

/// Host memory, whole pages, that all CUDA devices can read and write until it is unpinned; `where`
/// is a device in use, since any other would be woken up. Throws device_error.
void pin_host_memory(const device& device, void* pointer, std::size_t bytes);
void unpin_host_memory(const device& device, void* pointer) noexcept;

/// Memory of the host, all 0, that kernels of all CUDA devices can write (posted_words.hpp).
[[nodiscard]] void* allocate_post(const device& device, std::size_t bytes);
/// Waits for the device's work first.
void free_post(device& device, void* memory) noexcept;
/// Until `number` is at `posted`. Throws device_error where the device has failed, or has done all
/// work that was given to it and `number` is not there.
void wait_for_post(device& device, const std::uint64_t* posted, std::uint64_t number);

} // namespace krylith::cuda
