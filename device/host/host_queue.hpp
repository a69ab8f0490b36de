// The stream of a host device: a worker thread that runs tasks in the order given.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <krylith/device/host/forks.hpp>

namespace krylith {

/// A queue of tasks with a worker. Once a task has thrown, later ones are skipped, in order, until
/// the failure has been reported by wait_idle() or wait_for(). A worker that stays idle sleeps.
/// Thread-safe. In a child of fork() it has no worker: whatever would wait for it throws
/// usage_error.
class host_queue {
public:
    /// `name` begins the messages of failures.
    explicit host_queue(std::string name);
    host_queue(const host_queue&) = delete;
    host_queue& operator=(const host_queue&) = delete;
    ~host_queue() { close(); }

    /// Runs the tasks given, then ends the worker; the worker must not call it. Failures that
    /// nobody asked for are dropped.
    void close() noexcept;

    void push(std::function<void()> task);
    /// Adds a task that runs even after a failure, because it gives resources back.
    void push_always(std::function<void()> task);

    /// The number of tasks given so far; wait_for() takes such a number.
    [[nodiscard]] std::uint64_t given() const;

    /// Waits until the first `count` tasks are done. Throws device_error where one of them failed,
    /// when nothing runs any more; this reports the failure.
    void wait_for(std::uint64_t count);
    /// Waits likewise in a task of another queue, which must not wait for the rest: the failure is
    /// thrown there too, but counts as reported only once the host has seen it here.
    void follow(std::uint64_t count);
    void wait_idle() { wait_for(given()); }
    /// Whether all tasks given so far are done.
    [[nodiscard]] bool idle() const;
    /// The number of tasks that have thrown.
    [[nodiscard]] std::uint64_t failures() const noexcept {
        return failures_.load(std::memory_order_relaxed);
    }
    /// Whether fork() has left the worker behind.
    [[nodiscard]] bool abandoned() const noexcept { return forks_ != forks(); }

private:
    struct item {
        std::function<void()> task;
        bool always;
    };

    void enqueue(item next);
    void work();
    /// Also before a lock is taken, which the worker may have held when the process was forked.
    void check_process() const;
    [[nodiscard]] bool failed_within(std::uint64_t count) const;

    const std::string name_;
    const int forks_ = forks();
    std::atomic<std::uint64_t> failures_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable more_;
    std::condition_variable progress_;
    std::deque<item> items_;
    std::uint64_t given_ = 0;
    std::uint64_t finished_ = 0;
    std::uint64_t failed_ = 0; ///< number of the task that failed, from 1; 0: none
    std::string failure_;
    bool closed_ = false;
    std::thread worker_; // last: it uses the others
};

/// Makes a queue for several to hold. A child of fork() never destroys it: for the C library the
/// worker still waits for a condition variable, whose end would wait for the worker.
[[nodiscard]] std::shared_ptr<host_queue> make_host_queue(std::string name);

} // namespace krylith
