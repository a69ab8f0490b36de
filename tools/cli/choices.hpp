// Names that options take, for the checks, the help and, by the help, the completion.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace krylith::tool {

inline constexpr std::array<std::string_view, 2> precision_names = {"fp64", "fp32"};
inline constexpr std::array<std::string_view, 3> side_names = {"left", "right", "split"};
inline constexpr std::array<std::string_view, 3> execution_names = {"auto", "recorded", "eager"};
inline constexpr std::array<std::string_view, 3> backend_names = {"auto", "cuda", "host"};
inline constexpr std::array<std::string_view, 2> group_transport_names = {"auto", "staged"};

/// "left|right|split", as help shows the type of an option.
[[nodiscard]] inline std::string alternatives(std::span<const std::string_view> names) {
    std::string text;
    for (const std::string_view name : names) (text += text.empty() ? "" : "|") += name;
    return text;
}

} // namespace krylith::tool
