#include <krylith/comm/local/each_rank.hpp>

#include <algorithm>
#include <exception>
#include <vector>

#include <krylith/device/host/host_threads.hpp>
#include <krylith/device/threads/interruption.hpp>
#include <krylith/device/threads/rank_threads.hpp>

namespace krylith {

void on_each_rank(const communicator& comm, const std::function<void(int rank)>& work) {
    const device_group& group = comm.devices();
    if (group.size() == 0) return;
    const int first_rank = comm.first_local();
    if (group.size() == 1) return work(first_rank);
    // Settings of kernels, such as their shared memory, are those of the physical device: ranks of
    // one device come one after the other, in the thread of the first of them.
    const bool cuda = group.kind() == backend::cuda;
    const auto first_like = [&](int device) {
        int first = 0;
        while (first < device && !(cuda && group[first].ordinal() == group[device].ordinal()))
            ++first;
        return first;
    };
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(group.size()));
    const interruption* const of_caller = interruption::current();
    const auto run = [&](int first) noexcept {
        const interruption adopted(of_caller);
        for (int device = first; device < group.size(); ++device) {
            if (first_like(device) != first) continue;
            try {
                work(first_rank + device);
            } catch (...) {
                failures[static_cast<std::size_t>(device)] = std::current_exception();
            }
        }
    };
    // Kernels may wait for messages that only this thread carries.
    for (int device = 0; device < group.size(); ++device) group[device].serve_while_busy();
    // A GPU's thread leaves loops over its small lists to itself.
    const int team = cuda ? 1 : std::max(1, usable_cores() / group.size());
    run_side_by_side(group.size(), team, run);
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

} // namespace krylith
