// How a solver that keeps recordings between solves knows the objects that a recording contains.
//
// A recorded loop holds addresses of the operator's and the preconditioner's arrays. It may be used
// again while these objects are there, where they were, with other values in the same arrays. An
// object says so by a member function recording() that returns a pointer to its recording_identity,
// or null where it is to be recorded anew in every solve, like objects without that member.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace krylith {

/// A number that no other object of the process has or had. A copy has a number of its own, and a
/// move gives new ones to both objects, so that recordings of either are made anew.
class recording_identity {
public:
    recording_identity() : number_(std::make_shared<number>(next())) {}
    recording_identity(const recording_identity&) : recording_identity() {}
    recording_identity(recording_identity&& other) noexcept : number_(std::move(other.number_)) {
        renew();
    }
    recording_identity& operator=(const recording_identity& other) {
        if (this != &other && number_ == nullptr) number_ = std::make_shared<number>(0);
        renew();
        return *this;
    }
    recording_identity& operator=(recording_identity&& other) noexcept {
        if (number_ == nullptr) number_ = std::move(other.number_);
        other.renew();
        renew();
        return *this;
    }
    ~recording_identity() = default;

    /// Makes recordings that contain the object invalid: call it after arrays, or what else the
    /// object passes to its kernels by value, have been replaced.
    void renew() noexcept {
        if (number_ != nullptr) number_->store(next());
    }

private:
    friend class recorded_object;
    using number = std::atomic<std::uint64_t>;

    [[nodiscard]] static std::uint64_t next() noexcept {
        static std::atomic<std::uint64_t> last = 0;
        return ++last;
    }

    std::shared_ptr<number> number_; ///< null only in an object that was moved from
};

/// What a recording remembers of an object that it contains.
class recorded_object {
public:
    /// An object without an identity, which is never found again.
    recorded_object() = default;
    explicit recorded_object(const recording_identity* identity) {
        if (identity == nullptr || identity->number_ == nullptr) return;
        number_ = identity->number_;
        then_ = identity->number_->load();
    }

    /// Whether this is the object, unmoved and with the same arrays.
    [[nodiscard]] bool is(const recording_identity* identity) const noexcept {
        const auto now = number_.lock();
        return now != nullptr && identity != nullptr && now == identity->number_ &&
               now->load() == then_;
    }
    /// Whether the object is still somewhere as it was.
    [[nodiscard]] bool lives() const noexcept {
        const auto now = number_.lock();
        return now != nullptr && now->load() == then_;
    }

private:
    std::weak_ptr<const recording_identity::number> number_;
    std::uint64_t then_ = 0;
};

/// Returns the identity of an object that has one, else null.
template <class Object>
[[nodiscard]] const recording_identity* identity_of(const Object& object) {
    if constexpr (requires { object.recording(); })
        return object.recording();
    else
        return nullptr;
}

} // namespace krylith
