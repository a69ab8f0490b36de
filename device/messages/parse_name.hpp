// The enumerator that has a name.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>

namespace krylith {

/// Returns the enumerator of a name; `names` are in the order of the enumerators. Throws
/// usage_error that says what kind of name it is, the nearest valid one, and all of them.
template <class Kind, std::size_t N>
[[nodiscard]] Kind parse_name(std::string_view name, const std::array<std::string_view, N>& names,
                              const char* what, std::span<const name_alias> aliases = {}) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw usage_error(std::string("unknown ") + what + " '" + std::string(name) + "'" +
                          name_advice(name, names, aliases));
    }
    return static_cast<Kind>(found - names.begin());
}

} // namespace krylith
