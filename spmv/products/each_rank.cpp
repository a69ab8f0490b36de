#include <krylith/spmv/products/each_rank.hpp>

#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace krylith {

void on_each_rank(const device_group& group, const std::function<void(int rank)>& work) {
    if (group.size() == 1) return work(0);
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(group.size()));
    const auto run = [&](int rank) noexcept {
        try {
            work(rank);
        } catch (...) {
            failures[static_cast<std::size_t>(rank)] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(failures.size());
    int next = 1; // the caller's thread has rank 0
    try {
        for (; next < group.size(); ++next) threads.emplace_back(run, next);
    } catch (const std::system_error&) {
    }
    run(0);
    for (; next < group.size(); ++next) run(next);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

} // namespace krylith
