// What an object owns and can't be used without.
#pragma once

#include <memory>
#include <utility>

namespace krylith::detail {

/// Throws usage_error.
[[noreturn]] void refuse_moved_preconditioner();

/// Owns a part of a preconditioner. Once that has been moved from, each access throws usage_error.
template <class Part>
class owned_part {
public:
    owned_part() = default;
    template <class Derived>
    owned_part(std::unique_ptr<Derived> part) // NOLINT: it owns one
        : part_(std::move(part)) {}

    [[nodiscard]] Part& operator*() const {
        if (part_ == nullptr) refuse_moved_preconditioner();
        return *part_;
    }
    [[nodiscard]] Part* operator->() const { return &**this; }

private:
    std::unique_ptr<Part> part_;
};

} // namespace krylith::detail
