// Ranks that are dealt to two communicators, each with a thread that sees its own devices alone.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <krylith/comm/communicator.hpp>
#include <krylith/comm/driver_link.hpp>

namespace krylith::testing {

/// Calls work(comm) in a thread for each group, with a communicator of all of them. Returns what
/// each threw, null where it threw nothing.
inline std::vector<std::exception_ptr>
with_drivers(const std::vector<device_group>& groups,
             const std::function<void(const communicator&)>& work, double timeout_seconds = 60) {
    auto links = link_threads(static_cast<int>(groups.size()), timeout_seconds);
    std::vector<std::exception_ptr> thrown(groups.size());
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < groups.size(); ++k)
        threads.emplace_back([&, k] {
            try {
                work(communicator(groups[k], std::exchange(links[k], nullptr)));
            } catch (...) {
                thrown[k] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    return thrown;
}

/// Rethrows the first failure.
inline void expect_none(const std::vector<std::exception_ptr>& thrown) {
    for (const std::exception_ptr& one : thrown)
        if (one) std::rethrow_exception(one);
}

} // namespace krylith::testing
