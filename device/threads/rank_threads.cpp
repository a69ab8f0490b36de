#include <krylith/device/threads/rank_threads.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#include <omp.h>

#include <krylith/device/host/host_threads.hpp>
#include <krylith/device/threads/of_process.hpp>

namespace krylith {

namespace {

/// The threads, which are never joined: they sleep while the process ends.
class rank_threads {
public:
    /// Returns false, without a call, where another one is under way or threads can't be made.
    bool run(int count, int team, const std::function<void(int)>& work) {
        const std::unique_lock alone(busy_, std::try_to_lock);
        if (!alone.owns_lock() || !start(count - 1)) return false;
        work_ = &work;
        count_ = count;
        team_ = team;
        working_.store(threads_, std::memory_order_relaxed);
        calls_.fetch_add(1, std::memory_order_release);
        calls_.notify_all();
        work(0);
        for (std::int32_t left; (left = working_.load(std::memory_order_acquire)) != 0;)
            working_.wait(left, std::memory_order_acquire);
        return true;
    }

private:
    bool start(int wanted) {
        try {
            for (; threads_ < wanted; ++threads_)
                std::thread(&rank_threads::serve, this, threads_ + 1,
                            calls_.load(std::memory_order_relaxed))
                    .detach();
        } catch (const std::system_error&) {
            return false;
        }
        return true;
    }

    /// Waits for the calls after number `seen`.
    void serve(int number, std::uint32_t seen) {
        use_all_cores();
        for (;;) {
            calls_.wait(seen, std::memory_order_acquire);
            seen = calls_.load(std::memory_order_acquire);
            if (number < count_) {
                omp_set_num_threads(team_);
                (*work_)(number);
            }
            if (working_.fetch_sub(1, std::memory_order_release) == 1) working_.notify_one();
        }
    }

    std::mutex busy_;
    int threads_ = 0;
    int count_ = 0;
    int team_ = 1;
    const std::function<void(int)>* work_ = nullptr;
    std::atomic<std::uint32_t> calls_ = 0;
    std::atomic<std::int32_t> working_ = 0;
};

/// The calls that may be under way at once: a set-up has side_tasks beside it.
constexpr int most_calls = 3;

} // namespace

void run_side_by_side(int count, int team, const std::function<void(int)>& work) {
    if (count > 1)
        for (rank_threads& threads : of_process<std::array<rank_threads, most_calls>>())
            if (threads.run(count, team, work)) return;
    for (int i = 0; i < count; ++i) work(i);
}

} // namespace krylith
