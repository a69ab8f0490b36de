// What the shares of lra and lra-rc were tuned to, for reports.
#pragma once

#include <optional>

#include <nlohmann/json_fwd.hpp>

#include <krylith/spmv/tuning/fraction_search.hpp>

namespace krylith::tool {

/// Best point, the rule's and its loss, all points tried and where it is from; null for nothing.
[[nodiscard]] nlohmann::ordered_json as_json(const std::optional<fraction_choice>& choice);

} // namespace krylith::tool
