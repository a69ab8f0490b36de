// A slice of the CPU as a device: a worker thread, its queue, and a team of OpenMP threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <krylith/device/device.hpp>
#include <krylith/device/host/host_queue.hpp>
#include <krylith/device/host/shared_slabs.hpp>
#include <krylith/device/memory/slab_arena.hpp>

namespace krylith {

/// A device whose memory is the process's, so every host device can read and write that of the
/// others; other processes can map it once exporter().begin() has been called. A task that throws
/// fails the device: later tasks are skipped until synchronize(), download() or an event's wait()
/// has thrown the failure as device_error. Tasks must not call the device.
class host_device final : public device {
public:
    /// Throws usage_error unless threads >= 1.
    host_device(int ordinal, int threads);
    /// Waits for all tasks.
    ~host_device() override;

    [[nodiscard]] backend kind() const noexcept override { return backend::host; }
    [[nodiscard]] int ordinal() const noexcept override { return ordinal_; }
    [[nodiscard]] std::string description() const override;
    /// The bytes that this process could have without swapping (memory_room.hpp).
    [[nodiscard]] std::size_t free_bytes() const override;
    [[nodiscard]] std::string lies_elsewhere(const void*) const override { return {}; }
    [[nodiscard]] int threads() const noexcept { return threads_; }

    [[nodiscard]] void* allocate(std::size_t bytes, const std::string& item) override;
    /// The memory is freed after the tasks given so far, which may still use it.
    void deallocate(void* pointer, std::size_t bytes, const std::string& item) noexcept override;

    void upload(void* to, const void* from, std::size_t bytes) override;
    void download(void* to, const void* from, std::size_t bytes) override;
    void copy(void* to, const void* from, std::size_t bytes) override;
    void zero(void* to, std::size_t bytes) override;

    [[nodiscard]] std::shared_ptr<event> record() override;
    void wait(event& happened) override;
    void set_mark(std::uint64_t* mark, std::uint64_t count) override;
    void await_mark(const mark_wait& awaited) override;
    void synchronize() override;
    [[nodiscard]] bool idle() override;
    [[nodiscard]] std::uint64_t failures() const noexcept override { return queue_->failures(); }

    /// The number of times that the host has waited in synchronize() or download(): for tests.
    [[nodiscard]] std::uint64_t waits() const noexcept { return waits_; }

    [[nodiscard]] std::unique_ptr<loop_graph> make_loop() override;
    [[nodiscard]] std::unique_ptr<side_queue> make_side_queue() override;
    [[nodiscard]] memory_exporter& exporter() noexcept override { return shared_; }

    /// Runs the task after those given before; while a loop is recorded, adds it to the loop.
    void submit(std::function<void()> task);

private:
    class loop;
    class host_event;
    class side_worker;
    using task_list = std::vector<std::function<void()>>;

    void reject_while_recording(const char* what) const;
    [[nodiscard]] slab_arena* arena_for(std::size_t bytes) const noexcept;
    [[nodiscard]] slab_arena* arena_of(const void* pointer, std::size_t bytes) noexcept;
    [[nodiscard]] void* memory_of(std::size_t bytes);
    void give_back(void* pointer, std::size_t bytes) noexcept;

    int ordinal_;
    int threads_;
    task_list* recording_ = nullptr;
    std::atomic<std::uint64_t> waits_ = 0;
    std::unique_ptr<slab_arena> arena_; // of large blocks; null: these come from the C library too
    shared_slabs shared_;               // of all blocks once others may map them
    std::unique_ptr<slab_arena> shared_arena_;
    std::shared_ptr<host_queue> queue_; // shared with events
};

} // namespace krylith
