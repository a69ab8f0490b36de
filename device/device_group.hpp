// The ordered devices of one solve.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/device.hpp>

namespace krylith {

/// The path by which what one device writes for another gets there.
enum class peer_path {
    direct, ///< kernels store into the peer's memory (CUDA peer access, or shared host memory)
    staged, ///< kernels store locally; the runtime copies, through pinned host memory if it must
    posted  ///< kernels store into memory of the host, whose threads carry it to another driver
};

struct group_options {
    /// Forces staged copies even where devices can reach each other (to test, or to compare), those
    /// of other drivers of a communicator too.
    bool staged = false;
    /// The threads of all host devices together; 0 means one for each core that this process may
    /// use.
    int host_threads = 0;
    /// The CUDA streams to use, one a device, e.g. the simulation's own (cudaStream_t); where it is
    /// empty, the group makes its own. They are borrowed and must outlive the group.
    std::vector<void*> streams = {};
};

/// Work of rank `after` comes after that of rank `before`.
struct rank_order {
    int before;
    int after;

    friend auto operator<=>(const rank_order&, const rank_order&) = default;
};

/// Returns the orders and their reverses, each once.
[[nodiscard]] std::vector<rank_order> both_ways(std::vector<rank_order> orders);

/// Ranks 0..size()-1 are the devices in the order given. A group is a cheap value: copies refer to
/// the same devices, and a group that was moved from still does. One host thread at a time may
/// drive a group; distinct groups are independent, but two recorded solves must not share GPUs:
/// each waits for kernels of its own that the other may keep from running.
class device_group {
public:
    device_group(const device_group&) = default;
    device_group& operator=(const device_group&) = default;
    ~device_group() = default;

    /// Makes `devices` slices of the CPU, each with a worker thread and an OpenMP team.
    [[nodiscard]] static device_group host(int devices, const group_options& options = {});

    /// Makes a group of CUDA devices by ordinal. The same ordinal may stand several times (each
    /// with a stream of its own): such a group, good for tests, runs eagerly, ordered by events.
    /// Peer access is enabled for each pair that has it. Throws usage_error for an empty list or an
    /// absent ordinal (the message lists those present), device_error where there is no CUDA device
    /// at all or the library was built without CUDA.
    [[nodiscard]] static device_group cuda(std::span<const int> ordinals,
                                           const group_options& options = {});

    /// Makes a group of the first GPUs that this process can use, at most `most` of them, or all.
    /// Where there are none, or the library was built without CUDA, it is of `most` host devices,
    /// of one for `all`: a program that asks for 4 GPUs runs on 4 slices of a laptop's CPU. Throws
    /// usage_error for most < 1.
    static constexpr int all = std::numeric_limits<int>::max();
    [[nodiscard]] static device_group available(int most = all);

    [[nodiscard]] int size() const noexcept;
    [[nodiscard]] device& operator[](int rank) const;
    [[nodiscard]] const std::shared_ptr<device>& handle(int rank) const;
    [[nodiscard]] backend kind() const noexcept;
    /// Makes a group of some devices of this group: with the same streams and memory, so that what
    /// either group enqueues on a device is in one order.
    [[nodiscard]] device_group some(std::span<const int> ranks) const;
    [[nodiscard]] device_group alone(int rank) const { return some({&rank, 1}); }

    /// Whether staged copies were asked for (group_options::staged).
    [[nodiscard]] bool staged() const noexcept;
    /// The path from rank `from` to rank `to`; it is direct where from == to.
    [[nodiscard]] peer_path path(int from, int to) const noexcept;

    /// True where kernels may wait for kernels of other ranks: every pair is direct and no physical
    /// device stands twice. Otherwise execution is eager and events order what crosses devices.
    [[nodiscard]] bool concurrent() const noexcept;

    /// The reason why the group is not concurrent, for reports; empty if it is.
    [[nodiscard]] const std::string& serialised_because() const noexcept;

    /// Copies between devices, in the order of the stream of `from`. It works without peer access.
    void copy(int from, const void* source, int to, void* target, std::size_t bytes) const;

    /// Makes work given to any device after this run after all work given to every device before.
    void join() const;
    /// The same for some pairs of ranks: costs an event for each rank before others, and a wait a
    /// pair.
    void order(std::span<const rank_order> pairs) const;

    /// Runs `launches`, which enqueues kernels that wait for kernels of other ranks. The time-out
    /// of those that run already begins when all are enqueued: a process may be stopped for any
    /// time between two launches.
    void launch_together(const std::function<void()>& launches) const;

    /// A word in host memory, not 0 while launches are under way, that waiting kernels read before
    /// they give up. It is null where no kernel waits for others, and for host devices.
    [[nodiscard]] const std::uint32_t* launching() const noexcept;

    /// Blocks until all devices are idle; throws the first failure.
    void synchronize() const;

    /// Has `restore` called by restore() for as long as the handle lives. It enqueues what makes
    /// words right again by which devices count what they send each other: where a device did not
    /// do its part they differ, and waits would never end.
    [[nodiscard]] std::shared_ptr<const void> when_restored(std::function<void()> restore) const;
    /// Says that a wait between devices has ended without what it waited for.
    void note_failure() const noexcept;
    /// Does nothing unless a task or a wait has failed since the last call; else waits for all
    /// devices, throws a failure that has not been reported yet, and otherwise restores all words.
    void restore() const;
    /// Throws usage_error where this process is a child, by fork(), of the one that made the group.
    void check_process() const;

    /// Whether they have the same devices.
    friend bool operator==(const device_group& a, const device_group& b) noexcept {
        return a.members_ == b.members_ || a.same_devices(b);
    }

private:
    struct members;
    [[nodiscard]] bool same_devices(const device_group& other) const noexcept;
    explicit device_group(std::shared_ptr<const members> m) : members_(std::move(m)) {}
    std::shared_ptr<const members> members_;
};

/// The number of CUDA devices that this process can use; 0 where there are none or no driver, or
/// the library was built without CUDA.
[[nodiscard]] int cuda_device_count() noexcept;

} // namespace krylith
