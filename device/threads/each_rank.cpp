#include <krylith/device/threads/each_rank.hpp>

#include <algorithm>
#include <exception>
#include <vector>

#include <krylith/device/host/host_threads.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/device/threads/rank_threads.hpp>

namespace krylith {

void on_each_rank(const device_group& group, const std::function<void(int rank)>& work) {
    if (group.size() == 1) return work(0);
    // Settings of kernels, such as their shared memory, are those of the physical device: ranks of
    // one device come one after the other, in the thread of the first of them.
    const bool cuda = group.kind() == backend::cuda;
    const auto first_like = [&](int rank) {
        int first = 0;
        while (first < rank && !(cuda && group[first].ordinal() == group[rank].ordinal())) ++first;
        return first;
    };
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(group.size()));
    const interruption* const of_caller = interruption::current();
    const auto run = [&](int first) noexcept {
        const interruption adopted(of_caller);
        for (int rank = first; rank < group.size(); ++rank) {
            if (first_like(rank) != first) continue;
            try {
                work(rank);
            } catch (...) {
                failures[static_cast<std::size_t>(rank)] = std::current_exception();
            }
        }
    };
    // A GPU's thread leaves loops over its small lists to itself.
    const int team = cuda ? 1 : std::max(1, usable_cores() / group.size());
    run_side_by_side(group.size(), team, run);
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

} // namespace krylith
