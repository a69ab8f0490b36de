// Set-up that runs beside what the caller does meanwhile.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

namespace krylith {

/// Tasks that one thread runs in the order in which they are added, while the caller goes on. Both
/// give work to the same streams: while one waits for numbers of a device, the device works for the
/// other. Where they get no thread, since none was asked for or the system has none left, add()
/// runs the task before it returns, and throws what it throws.
///
/// What a task reads must have been enqueued before it is added; what it makes is there after
/// wait(). The destructor drops tasks that have not begun and waits for the one that has, so that
/// what tasks use is to be declared before.
class side_tasks {
public:
    /// `beside`: whether tasks get a thread.
    explicit side_tasks(bool beside) : beside_(beside) {}
    side_tasks(const side_tasks&) = delete;
    side_tasks& operator=(const side_tasks&) = delete;
    ~side_tasks();

    void add(std::function<void()> task);
    /// Waits for all tasks; the caller runs those that the thread has not begun. Rethrows what the
    /// first one that failed threw; those after it do not run.
    void wait();

private:
    [[nodiscard]] bool start();
    void serve();
    void run_next(std::unique_lock<std::mutex>& guard);

    bool beside_;
    bool started_ = false;
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::exception_ptr failure_;
    bool working_ = false; ///< whether a task runs, in either thread
    bool over_ = false;
    bool left_ = false; ///< whether the thread uses this object no more
};

} // namespace krylith
