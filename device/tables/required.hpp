// A field that every row of a table must give. It has no default constructor, so that a row that
// lacks it does not compile.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

#include <krylith/device/language/cxx20.hpp>

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

/// At most four names: `{"ghost"}`, or name_list::none().
class name_list {
public:
    template <std::convertible_to<std::string_view>... Names>
    requires(sizeof...(Names) >= 1 && sizeof...(Names) <= 4) constexpr name_list(Names... names)
        : names_{names...}, count_(sizeof...(Names)) {} // NOLINT

    [[nodiscard]] static constexpr name_list none() {
        name_list empty("");
        empty.count_ = 0;
        return empty;
    }

    [[nodiscard]] constexpr const std::string_view* begin() const noexcept { return names_.data(); }
    [[nodiscard]] constexpr const std::string_view* end() const noexcept {
        return names_.data() + count_;
    }

private:
    std::array<std::string_view, 4> names_ = {};
    std::size_t count_ = 0;
};

} // namespace krylith
