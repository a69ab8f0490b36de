// What a device's memory is used for, item by item.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <krylith/device/language/cxx20.hpp>

namespace krylith {

/// The live bytes of one device by purpose ("matrix", "vectors", ...). Thread-safe.
class memory_ledger {
public:
    /// A function that gets item, bytes wanted and bytes live before each allocation, and refuses
    /// it by throwing. It may not use the ledger.
    using guard = std::function<void(const std::string&, std::size_t, std::size_t)>;

    /// Sets a budget below what the device has, or tests what happens where memory is short:
    /// allocations throw what the guard throws, which should be a device_error. An empty guard
    /// refuses nothing.
    void set_guard(guard admit) {
        std::lock_guard lock(mutex_);
        admit_ = std::move(admit);
    }

    /// Counts an allocation. The device calls it for each, and takes the allocation back where this
    /// throws.
    void add(const std::string& item, std::size_t bytes) {
        std::lock_guard lock(mutex_);
        if (admit_) admit_(item, bytes, live_);
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

    /// The most bytes that were live at once, since restart_peak().
    [[nodiscard]] std::size_t peak() const {
        std::lock_guard lock(mutex_);
        return peak_;
    }
    void restart_peak() {
        std::lock_guard lock(mutex_);
        peak_ = live_;
    }

    [[nodiscard]] std::map<std::string, std::size_t> items() const {
        std::lock_guard lock(mutex_);
        return items_;
    }

private:
    mutable std::mutex mutex_;
    guard admit_;
    std::map<std::string, std::size_t> items_;
    std::size_t live_ = 0;
    std::size_t peak_ = 0;
};

} // namespace krylith
