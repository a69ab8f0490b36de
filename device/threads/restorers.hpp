// What those who share words on devices do after a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace krylith {

/// Functions that make words right again by which devices count what they send each other: where a
/// device did not do its part they differ, and waits would never end. Thread-safe.
class restorers {
public:
    /// Has `restore` called by run() for as long as the handle lives.
    [[nodiscard]] std::shared_ptr<const void> add(std::function<void()> restore) {
        std::uint64_t number = 0;
        {
            const std::scoped_lock lock(all_->guard);
            number = all_->next++;
            all_->functions.emplace(number, std::move(restore));
        }
        return {nullptr, [all = all_, number](const void*) {
                    std::function<void()> ended; // what it holds may end with it, after the lock
                    const std::scoped_lock ending(all->guard);
                    const auto found = all->functions.find(number);
                    ended = std::move(found->second);
                    all->functions.erase(found);
                }};
    }
    void run() {
        const std::scoped_lock lock(all_->guard);
        for (const auto& [number, restore] : all_->functions) restore();
    }

private:
    struct numbered {
        std::mutex guard;
        std::map<std::uint64_t, std::function<void()>> functions;
        std::uint64_t next = 0;
    };
    std::shared_ptr<numbered> all_ = std::make_shared<numbered>();
};

} // namespace krylith
