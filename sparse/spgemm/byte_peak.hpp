// The most bytes that a set-up had in use at once.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/memory/buffer.hpp>

namespace krylith::cuda {

/// What the memory of a product is called.
inline constexpr const char* product_item = "product of matrices";

/// Bytes of buffers that exist side by side.
class byte_peak {
public:
    template <class V>
    [[nodiscard]] buffer<V> make(const std::shared_ptr<device>& device, std::int64_t size) {
        live_ += size * static_cast<std::int64_t>(sizeof(V));
        peak_ = live_ > peak_ ? live_ : peak_;
        return {device, static_cast<std::size_t>(size), product_item};
    }
    template <class V>
    void drop(buffer<V>& b) {
        live_ -= static_cast<std::int64_t>(b.size() * sizeof(V));
        b = {};
    }
    /// Counts bytes that were used in between.
    void pass(std::int64_t bytes) { peak_ = live_ + bytes > peak_ ? live_ + bytes : peak_; }
    [[nodiscard]] std::int64_t peak() const noexcept { return peak_; }

private:
    std::int64_t live_ = 0;
    std::int64_t peak_ = 0;
};

} // namespace krylith::cuda
