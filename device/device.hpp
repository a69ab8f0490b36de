// A device has memory and one ordered stream of work. Device groups are made of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <krylith/device/exported/memory_exporter.hpp>
#include <krylith/device/memory_ledger.hpp>
#include <krylith/device/queues/side_queue.hpp>

namespace krylith {

enum class backend { host, cuda };

[[nodiscard]] constexpr const char* to_string(backend kind) noexcept {
    return kind == backend::host ? "host" : "cuda";
}

/// What device::lies_elsewhere() calls memory of the host.
inline constexpr const char* host_memory_name = "host memory";

/// A point in a stream's order that other streams and the host can wait for.
class event {
public:
    virtual ~event() = default;
    /// Blocks the calling host thread. Throws device_error where work before the event failed.
    virtual void wait() = 0;
};

/// The body of a loop on the device: recorded once, then repeated by the device itself until its
/// own condition says stop. It is a graph with a conditional WHILE node on CUDA, and a list of
/// tasks that the worker repeats on host devices.
class loop_graph {
public:
    virtual ~loop_graph() = default;
    /// Work enqueued on the device after this is recorded and not run.
    virtual void begin_recording() = 0;
    virtual void end_recording() = 0;
    /// Runs the recorded body at least once, and again while its condition holds, in stream order.
    virtual void launch() = 0;
    /// Has `tell` called where a task of the body throws, by the device's thread and before the
    /// failure is reported: peers that wait for the device would wait on. CUDA kernels don't throw.
    virtual void if_failed(std::function<void()> tell) { (void)tell; }
    /// The handle for the kernel that decides: on CUDA the conditional handle; on the host the
    /// address of a bool that the body sets to false to end the loop.
    [[nodiscard]] virtual std::uint64_t condition() const noexcept = 0;
};

/// Words of the host that waits for marks share.
struct mark_words {
    std::shared_ptr<const std::uint32_t> abandoned; ///< not 0: nobody waits any more
    std::shared_ptr<std::uint32_t> overdue; ///< 0, or 1 + the rank that was waited for too long
};

/// A count through which a device of another process says how far it is.
struct mark_wait {
    const std::uint64_t* mark = nullptr;
    std::uint64_t least = 0;
    int rank = 0; ///< that sets it
    double timeout_seconds = 0;
    mark_words words;
};

/// Work given to a device runs in the order given, asynchronously to the host and to other devices.
/// Pointers are as the kernels of this device see them. Not copyable; owned by a device_group.
class device {
public:
    device() = default;
    device(const device&) = delete;
    device& operator=(const device&) = delete;
    virtual ~device() = default;

    [[nodiscard]] virtual backend kind() const noexcept = 0;
    /// The CUDA ordinal, or the index of the host device.
    [[nodiscard]] virtual int ordinal() const noexcept = 0;
    /// A name for reports: "NVIDIA H200 (cuda:0)", "host:1, 2 threads".
    [[nodiscard]] virtual std::string description() const = 0;
    [[nodiscard]] virtual std::size_t free_bytes() const = 0;

    /// Names the memory of a pointer that kernels of this device can't use (host_memory_name,
    /// "memory of cuda:1"); empty where they can, or where that can't be told. It serves checks of
    /// pointers that callers give.
    [[nodiscard]] virtual std::string lies_elsewhere(const void* pointer) const = 0;

    /// Allocates bytes aligned to at least 256. Throws device_error naming item, bytes wanted and
    /// bytes free.
    [[nodiscard]] virtual void* allocate(std::size_t bytes, const std::string& item) = 0;
    virtual void deallocate(void* pointer, std::size_t bytes, const std::string& item) noexcept = 0;

    /// Copies in stream order; `from` is host memory and may be reused when the call returns.
    virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
    /// Waits for the stream, then for the copy.
    virtual void download(void* to, const void* from, std::size_t bytes) = 0;
    /// Copies in stream order; both are on this device.
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
    virtual void zero(void* to, std::size_t bytes) = 0;

    [[nodiscard]] virtual std::shared_ptr<event> record() = 0;
    /// Later work on this device runs after the event. The event is of a device of the same kind.
    virtual void wait(event& happened) = 0;
    /// Stores a count after the work given before, also where that has failed, for a device of
    /// another process: `mark` is of any device, as this one reaches it.
    virtual void set_mark(std::uint64_t* mark, std::uint64_t count) = 0;
    /// Later work on this device runs once a mark in its memory is at least what is awaited, or
    /// once a wait is over without that, which its words say: who gives work behind it asks them.
    virtual void await_mark(const mark_wait& awaited) = 0;
    /// Blocks the host until all work given so far is done; throws device_error where it failed.
    virtual void synchronize() = 0;
    /// Has host threads that wait for the device call `task` again and again: kernels may wait for
    /// what it does. It must not wait for a device itself. Without one they block.
    void while_waiting(std::function<void()> task) { waiting_task_ = std::move(task); }
    /// Calls that task, if there is one, until the device is idle: synchronize(), download() and
    /// waits for posted words do so first.
    void serve_while_busy();
    /// Whether all work given so far is done, or has failed. It doesn't wait.
    [[nodiscard]] virtual bool idle() = 0;
    /// How many tasks have thrown so far. CUDA kernels don't.
    [[nodiscard]] virtual std::uint64_t failures() const noexcept { return 0; }

    [[nodiscard]] virtual std::unique_ptr<loop_graph> make_loop() = 0;
    /// Makes a queue for copies that run beside this device's work. The device must outlive it.
    [[nodiscard]] virtual std::unique_ptr<side_queue> make_side_queue() = 0;

    /// How other processes map its memory.
    [[nodiscard]] virtual memory_exporter& exporter() noexcept = 0;

    [[nodiscard]] memory_ledger& ledger() noexcept { return ledger_; }

private:
    memory_ledger ledger_;
    std::function<void()> waiting_task_;
};

} // namespace krylith
