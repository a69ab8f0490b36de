#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace krylith {

/// The entries of a vector that need not lie in one array: one piece after the other.
template <class T>
class vector_pieces {
public:
    using use_piece = std::function<void(std::span<const T>)>;

    vector_pieces(std::span<const T> all) // NOLINT: an array is one piece
        : entries_(static_cast<std::int64_t>(all.size())),
          for_each_([all](const use_piece& use) { use(all); }) {}
    /// `for_each` calls what it is given with each piece, in order.
    vector_pieces(std::int64_t entries, std::function<void(const use_piece&)> for_each)
        : entries_(entries), for_each_(std::move(for_each)) {}

    [[nodiscard]] std::int64_t entries() const noexcept { return entries_; }
    void for_each(const use_piece& use) const { for_each_(use); }

private:
    std::int64_t entries_;
    std::function<void(const use_piece&)> for_each_;
};

} // namespace krylith
