// Numbers out of the bytes that a fuzzer makes up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace krylith::fuzz {

/// The source of numbers: zeros once the bytes are used up.
class byte_source {
public:
    explicit byte_source(std::span<const std::uint8_t> bytes) : left_(bytes) {}

    template <class Number>
    [[nodiscard]] Number take() {
        Number number{};
        const std::size_t count = std::min(left_.size(), sizeof number);
        if (count > 0) {
            std::memcpy(&number, left_.data(), count);
        }
        left_ = left_.subspan(count);
        return number;
    }

    [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }

private:
    std::span<const std::uint8_t> left_;
};

} // namespace krylith::fuzz
