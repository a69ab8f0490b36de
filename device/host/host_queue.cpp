#include <krylith/device/host/host_queue.hpp>

#include <exception>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

/// Waits until `holds()`, of which a change is signalled. The next task, or the end of the last
/// one, often is microseconds away, when to sleep and to be woken takes longer than to give way a
/// few times: tests on several host devices took 1.5 times as long without.
template <class Condition>
void await(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
           const Condition& holds) {
    for (int k = 0; k < 100 && !holds(); ++k) {
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
    }
    changed.wait(lock, holds);
}

/// The text of a message, empty where there is no memory for it.
std::string message(const char* who, const char* separator, const char* what) noexcept {
    try {
        return std::string(who) + separator + what;
    } catch (...) {
        return {};
    }
}

} // namespace

host_queue::host_queue(std::string name) : name_(std::move(name)), worker_([this] { work(); }) {}

std::shared_ptr<host_queue> make_host_queue(std::string name) {
    return {new host_queue(std::move(name)), [](host_queue* queue) {
                if (!queue->abandoned()) delete queue;
            }};
}

void host_queue::close() noexcept {
    if (abandoned()) return;
    {
        std::lock_guard lock(mutex_);
        closed_ = true;
    }
    more_.notify_one();
    if (worker_.joinable()) worker_.join();
}

void host_queue::push(std::function<void()> task) {
    enqueue({std::move(task), false});
}

void host_queue::push_always(std::function<void()> task) {
    enqueue({std::move(task), true});
}

void host_queue::check_process() const {
    check_not_forked(forks_, name_);
}

void host_queue::enqueue(item next) {
    check_process();
    {
        std::lock_guard lock(mutex_);
        items_.push_back(std::move(next));
        ++given_;
    }
    more_.notify_one();
}

std::uint64_t host_queue::given() const {
    check_process();
    std::lock_guard lock(mutex_);
    return given_;
}

bool host_queue::failed_within(std::uint64_t count) const {
    return failed_ != 0 && failed_ <= count;
}

void host_queue::wait_for(std::uint64_t count) {
    check_process();
    std::unique_lock lock(mutex_);
    await(progress_, lock, [&] { return finished_ >= count; });
    if (!failed_within(count)) return;
    // The tasks that still wait depended on the task that failed: all must be skipped first.
    await(progress_, lock, [&] { return finished_ == given_; });
    failed_ = 0;
    throw device_error(std::exchange(failure_, {}));
}

void host_queue::follow(std::uint64_t count) {
    check_process();
    std::unique_lock lock(mutex_);
    await(progress_, lock, [&] { return finished_ >= count; });
    if (failed_within(count)) throw device_error(failure_);
}

bool host_queue::idle() const {
    check_process();
    std::lock_guard lock(mutex_);
    return finished_ == given_;
}

void host_queue::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        await(more_, lock, [&] { return closed_ || !items_.empty(); });
        if (items_.empty()) return;
        item next = std::move(items_.front());
        items_.pop_front();
        const bool skip = failed_ != 0 && !next.always;
        lock.unlock();
        std::string failure;
        bool failed = false;
        if (!skip) {
            try {
                next.task();
            } catch (const device_error& e) {
                failed = true;
                failure = message("", "", e.what());
            } catch (const std::exception& e) {
                failed = true;
                failure = message(name_.c_str(), ": ", e.what());
            } catch (...) {
                failed = true;
                failure = message(name_.c_str(), ": ", "a task failed for an unknown reason");
            }
        }
        next.task = nullptr; // frees what it holds before anybody learns that it is done
        lock.lock();
        ++finished_;
        if (failed) failures_.fetch_add(1, std::memory_order_relaxed);
        if (failed && failed_ == 0) {
            failed_ = finished_;
            failure_ = std::move(failure);
        }
        progress_.notify_all();
    }
}

} // namespace krylith
