#include <krylith/device/threads/kept_threads.hpp>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <omp.h>

#include <krylith/device/host/host_threads.hpp>
#include <krylith/device/threads/of_process.hpp>

namespace krylith {

namespace {

class kept_threads {
public:
    bool run(std::function<void()> job) {
        std::unique_lock guard(lock_);
        if (idle_.empty()) {
            guard.unlock();
            return start(std::move(job));
        }
        member* const one = idle_.back();
        idle_.pop_back();
        one->job = std::move(job);
        one->wake.notify_one();
        return true;
    }

private:
    struct member {
        std::condition_variable wake;
        std::function<void()> job;
    };

    bool start(std::function<void()> job) {
        try {
            std::thread(&kept_threads::serve, this, std::move(job)).detach();
        } catch (const std::system_error&) {
            return false;
        }
        return true;
    }

    void serve(std::function<void()> job) {
        use_all_cores();
        omp_set_num_threads(1);
        member self;
        for (;;) {
            std::exchange(job, nullptr)(); // what it holds goes with it
            std::unique_lock guard(lock_);
            idle_.push_back(&self);
            self.wake.wait(guard, [&] { return self.job != nullptr; });
            std::swap(job, self.job);
        }
    }

    std::mutex lock_;
    std::vector<member*> idle_;
};

} // namespace

bool run_in_kept_thread(std::function<void()> job) {
    return of_process<kept_threads>().run(std::move(job));
}

} // namespace krylith
