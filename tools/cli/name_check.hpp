// Names that the command knows: an unknown one is refused with the nearest.
#pragma once

#include <span>
#include <string_view>

#include <krylith/device/messages/nearest_name.hpp>

namespace krylith::tool {

/// Throws usage_error unless `given` is one of `valid`; `what` is the option in words ("solver").
/// `aliases` are what others call some of the valid names: suggested, not accepted.
void check_name(std::string_view what, std::string_view given,
                std::span<const std::string_view> valid, std::span<const name_alias> aliases = {});

} // namespace krylith::tool
