// What a device's memory is used for, item by item.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace krylith {

/// Live bytes of one device by purpose ("matrix", "vectors", ...). Thread-safe.
class memory_ledger {
public:
    void add(const std::string& item, std::size_t bytes) {
        std::lock_guard lock(mutex_);
        items_[item] += bytes;
        live_ += bytes;
        peak_ = live_ > peak_ ? live_ : peak_;
    }

    void remove(const std::string& item, std::size_t bytes) noexcept {
        std::lock_guard lock(mutex_);
        auto found = items_.find(item);
        if (found == items_.end()) return;
        found->second -= bytes;
        live_ -= bytes;
        if (found->second == 0) items_.erase(found);
    }

    [[nodiscard]] std::size_t live() const {
        std::lock_guard lock(mutex_);
        return live_;
    }

    [[nodiscard]] std::size_t peak() const {
        std::lock_guard lock(mutex_);
        return peak_;
    }

    [[nodiscard]] std::map<std::string, std::size_t> items() const {
        std::lock_guard lock(mutex_);
        return items_;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::size_t> items_;
    std::size_t live_ = 0;
    std::size_t peak_ = 0;
};

} // namespace krylith
