#include <krylith/device/threads/side_tasks.hpp>

#include <utility>

#include <krylith/device/threads/kept_threads.hpp>

namespace krylith {

side_tasks::~side_tasks() {
    if (!started_) return;
    std::unique_lock guard(lock_);
    over_ = true;
    tasks_.clear();
    changed_.notify_all();
    changed_.wait(guard, [&] { return left_; });
}

void side_tasks::add(std::function<void()> task) {
    if (!start()) return task();
    const std::lock_guard guard(lock_);
    tasks_.push_back(std::move(task));
    changed_.notify_all();
}

void side_tasks::wait() {
    std::unique_lock guard(lock_);
    for (;;) {
        changed_.wait(guard, [&] { return !working_; });
        if (tasks_.empty()) break;
        run_next(guard);
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// Returns whether there is a thread, which the first task gets.
bool side_tasks::start() {
    if (started_ || !beside_) return started_;
    started_ = beside_ = run_in_kept_thread([this] { serve(); });
    return started_;
}

void side_tasks::serve() {
    std::unique_lock guard(lock_);
    for (;;) {
        changed_.wait(guard, [&] { return !working_ && (over_ || !tasks_.empty()); });
        if (tasks_.empty()) break;
        run_next(guard);
    }
    left_ = true;
    changed_.notify_all(); // under the lock: the object may go when it is released
}

/// Runs the first task in this thread.
void side_tasks::run_next(std::unique_lock<std::mutex>& guard) {
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    working_ = true;
    guard.unlock();
    std::exception_ptr failure;
    try {
        task();
    } catch (...) {
        failure = std::current_exception();
    }
    task = nullptr; // what it holds goes before anybody hears that it is over
    guard.lock();
    working_ = false;
    if (failure) {
        failure_ = failure;
        tasks_.clear();
    }
    changed_.notify_all();
}

} // namespace krylith
