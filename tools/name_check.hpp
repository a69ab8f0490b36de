// Names that the command knows: an unknown one is refused with the nearest.
#pragma once

#include <span>
#include <string_view>

namespace krylith::tool {

/// Throws usage_error unless `given` is one of `valid`; `what` is the option in words ("solver").
void check_name(std::string_view what, std::string_view given,
                std::span<const std::string_view> valid);

} // namespace krylith::tool
