// A stream of blocks that are taken one after another, worked on by all OpenMP threads, and used in
// the order in which they were taken.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>

namespace krylith::market {

/// Gives each thread one Block, and repeats: take(block) (false at the end), work(block),
/// use(block). take() calls exclude each other, and so do use() calls, which come in the order of
/// the take()s. The first exception in that order is thrown, and no more blocks are taken. So the
/// outcome is the same for any number of threads.
template <class Block, class Take, class Work, class Use>
void for_blocks_in_order(int threads, const Take& take, const Work& work, const Use& use) {
    std::mutex taking;
    std::mutex using_;
    std::condition_variable turn_changed;
    std::int64_t taken = 0;
    std::int64_t turn = 0;
    std::atomic<bool> ended = false;
    std::exception_ptr failure; // no exception may leave the parallel region by itself
    const auto attempt = [](std::exception_ptr& caught, const auto& action) {
        try {
            action();
        } catch (...) {
            caught = std::current_exception();
        }
    };
#pragma omp parallel num_threads(threads)
    {
        Block block;
        for (;;) {
            std::exception_ptr caught;
            std::int64_t mine = 0;
            {
                const std::lock_guard lock(taking);
                if (ended) {
                    break;
                }
                bool any = true;
                attempt(caught, [&] { any = take(block); });
                ended = ended || !any || caught;
                if (!any) {
                    break;
                }
                mine = taken++;
            }
            if (!caught) {
                attempt(caught, [&] { work(block); });
            }
            std::unique_lock lock(using_);
            turn_changed.wait(lock, [&] { return turn == mine; });
            if (!caught && !failure) {
                attempt(caught, [&] { use(block); });
            }
            if (caught && !failure) {
                failure = caught;
                ended = true;
            }
            ++turn;
            turn_changed.notify_all();
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

} // namespace krylith::market
