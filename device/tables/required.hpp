// A field that every row of a table must give. It has no default constructor, so that a row that
// lacks it does not compile.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace krylith {

template <class T>
class required {
public:
    template <class Given>
    requires std::convertible_to<Given, T>
    constexpr required(Given&& value) // NOLINT: a row gives the value itself
        : value_(std::forward<Given>(value)) {}

    constexpr operator const T&() const noexcept { return value_; } // NOLINT
    [[nodiscard]] constexpr const T& get() const noexcept { return value_; }

private:
    T value_;
};

/// Text that every row must give: a literal, which ends with a zero.
class required_text : public std::string_view {
public:
    constexpr required_text(const char* text) : std::string_view(text) {} // NOLINT
};

/// A few values in the order given, which may be none: `{}`.
template <class T, std::size_t Most>
class required_list {
public:
    constexpr required_list(std::initializer_list<T> values) { // NOLINT
        for (const T& value : values) values_.at(count_++) = value;
    }

    [[nodiscard]] constexpr const T* begin() const noexcept { return values_.data(); }
    [[nodiscard]] constexpr const T* end() const noexcept { return values_.data() + count_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }

private:
    std::array<T, Most> values_ = {};
    std::size_t count_ = 0;
};

} // namespace krylith
