// What an object that can be moved is made of, so that a use after the move is an error.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <krylith/device/error.hpp>

namespace krylith {

[[noreturn]] inline void refuse_moved_from() {
    throw usage_error("an object that was moved from is used: allowed are to assign to it and to "
                      "destroy it");
}

/// A pointer of any kind that is null only in an object that was moved from, or is empty: whatever
/// asks for what it points to throws usage_error there.
template <class Pointer>
class unmoved {
public:
    unmoved() = default;
    unmoved(Pointer pointer) noexcept : pointer_(std::move(pointer)) {} // NOLINT: it is one
    unmoved(std::nullptr_t) noexcept {}                                 // NOLINT: it is one
    unmoved(const unmoved&) = default;
    unmoved& operator=(const unmoved&) = default;
    unmoved(unmoved&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    unmoved& operator=(unmoved&& other) noexcept {
        pointer_ = std::exchange(other.pointer_, nullptr);
        return *this;
    }
    ~unmoved() = default;

    [[nodiscard]] const Pointer& get() const {
        if (pointer_ == nullptr) refuse_moved_from();
        return pointer_;
    }
    operator const Pointer&() const { return get(); } // NOLINT: it is one
    [[nodiscard]] decltype(auto) operator*() const { return *get(); }
    [[nodiscard]] auto* operator->() const { return std::to_address(get()); }

    friend bool operator==(const unmoved& a, std::nullptr_t) noexcept {
        return a.pointer_ == nullptr;
    }

private:
    Pointer pointer_ = nullptr;
};

} // namespace krylith
