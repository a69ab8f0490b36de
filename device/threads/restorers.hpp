// What those who share words on devices do after a failure.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace krylith {

/// Functions that make words right again by which devices count what they send each other: where a
/// device did not do its part they differ, and waits would never end. Thread-safe.
class restorers {
public:
    /// Has `restore` called by run() for as long as the handle lives.
    [[nodiscard]] std::shared_ptr<const void> add(std::function<void()> restore) {
        auto handle = std::make_shared<const std::function<void()>>(std::move(restore));
        const std::scoped_lock lock(guard_);
        if (all_.size() == all_.capacity()) // before it grows
            std::erase_if(all_, [](const auto& one) { return one.expired(); });
        all_.push_back(handle);
        return handle;
    }
    void run() {
        const std::scoped_lock lock(guard_);
        for (const auto& one : all_)
            if (const auto restorer = one.lock()) (*restorer)();
    }

private:
    std::mutex guard_;
    std::vector<std::weak_ptr<const std::function<void()>>> all_;
};

} // namespace krylith
