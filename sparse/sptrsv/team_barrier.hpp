// A barrier for a team of threads that meets often: it spins before it gives up the processor.
#pragma once

#include <atomic>
#include <thread>

namespace krylith {

/// What a thread wrote before it is visible to the others after it. Used any number of times by the
/// same number of threads.
class team_barrier {
public:
    void wait(int members) {
        const unsigned before = phase_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.store(before + 1, std::memory_order_release);
            return;
        }
        for (int looks = 0; phase_.load(std::memory_order_acquire) == before; ++looks)
            if (looks >= patience) std::this_thread::yield();
    }

private:
    static constexpr int patience = 2000;
    alignas(64) std::atomic<int> arrived_ = 0;
    alignas(64) std::atomic<unsigned> phase_ = 0;
};

} // namespace krylith
