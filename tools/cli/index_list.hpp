// Rows, columns or vertices that the command line lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krylith::tool {

/// "3,7" as indices from 0, {2, 6}. Throws usage_error naming the option unless each is one of the
/// `count` that there are; `what` says what is listed ("vertices").
[[nodiscard]] std::vector<std::int64_t> parse_indices(const std::string& option,
                                                      std::string_view text, std::string_view what,
                                                      std::int64_t count);

} // namespace krylith::tool
