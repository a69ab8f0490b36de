// Bytes whose number is not known before they have all come.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace krylith::files {

/// Collects bytes. Throws input_error before it grows beyond what the memory can hold.
class growing_text {
public:
    explicit growing_text(std::string name) : name_(std::move(name)) {}

    /// The place for the next bytes, `least` or more; keep() says how many came.
    [[nodiscard]] std::span<char> room(std::size_t least);
    void keep(std::size_t count) noexcept { used_ += count; }

    [[nodiscard]] std::size_t size() const noexcept { return used_; }
    /// Gives the bytes away. To be called once, at the end.
    [[nodiscard]] std::string take();

private:
    std::string name_; ///< of the input, for messages
    std::string text_;
    std::size_t used_ = 0;
};

} // namespace krylith::files
