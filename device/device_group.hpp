// The ordered devices of one solve.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/device.hpp>

namespace krylith {

/// How what one device writes for another gets there.
enum class peer_path {
    direct, ///< kernels store into the peer's memory (CUDA peer access, or shared host memory)
    staged  ///< kernels store locally; the runtime copies, through pinned host memory if it must
};

struct group_options {
    /// Force staged copies even where devices can reach each other (to test, or to compare).
    bool staged = false;
    /// Threads of all host devices together; 0: one for each core that this process may use.
    int host_threads = 0;
    /// CUDA streams to use, one a device, e.g. the simulation's own (cudaStream_t); empty: the
    /// group makes its own. They are borrowed and must outlive the group.
    std::vector<void*> streams = {};
};

/// A cheap value: copies refer to the same devices. Ranks 0..size()-1 are in the order given. One
/// host thread at a time may drive a group; distinct groups are independent, but two recorded
/// solves must not share GPUs: each waits for kernels of its own that the other may keep from
/// running.
class device_group {
public:
    /// `devices` slices of the CPU, a worker thread and an OpenMP team each.
    [[nodiscard]] static device_group host(int devices, const group_options& options = {});

    /// CUDA devices by ordinal. The same ordinal may stand several times (each with a stream of its
    /// own): such a group, good for tests, runs eagerly, ordered by events. Peer access is enabled
    /// for each pair that has it. Throws usage_error for an empty list or an absent ordinal (the
    /// message lists those present), device_error where there is no CUDA device at all or the
    /// library was built without CUDA.
    [[nodiscard]] static device_group cuda(std::span<const int> ordinals,
                                           const group_options& options = {});

    [[nodiscard]] int size() const noexcept;
    [[nodiscard]] device& operator[](int rank) const;
    [[nodiscard]] const std::shared_ptr<device>& handle(int rank) const;
    [[nodiscard]] backend kind() const noexcept;

    /// From rank `from` to rank `to`; from == to is direct.
    [[nodiscard]] peer_path path(int from, int to) const noexcept;

    /// True where kernels may wait for kernels of other ranks: every pair is direct and no physical
    /// device stands twice. Otherwise execution is eager and events order what crosses devices.
    [[nodiscard]] bool concurrent() const noexcept;

    /// Why not concurrent, for reports; empty if it is.
    [[nodiscard]] const std::string& serialised_because() const noexcept;

    /// Copies between devices, ordered in the stream of `from`. Works without peer access.
    void copy(int from, const void* source, int to, void* target, std::size_t bytes) const;

    /// Work given to any device from here on runs after all work given to every device so far.
    void join() const;

    /// Runs `launches`, which enqueues kernels that wait for kernels of other ranks. The time-out
    /// of those that run already begins when all are enqueued: a process may be stopped for any
    /// time between two launches.
    void launch_together(const std::function<void()>& launches) const;

    /// Not 0 while launches are under way: what waiting kernels look at before they give up. In
    /// host memory; null where no kernel waits for others, and for host devices.
    [[nodiscard]] const std::uint32_t* launching() const noexcept;

    /// Blocks until all devices are idle; throws the first failure.
    void synchronize() const;

    friend bool operator==(const device_group&, const device_group&) = default;

private:
    struct members;
    explicit device_group(std::shared_ptr<const members> m) : members_(std::move(m)) {}
    std::shared_ptr<const members> members_;
};

/// CUDA devices that this process can use; 0 where there are none or no driver, or the library was
/// built without CUDA.
[[nodiscard]] int cuda_device_count() noexcept;

} // namespace krylith
