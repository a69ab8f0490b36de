// Bars: the phases of a solve, and the memory of its devices.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace krylith::tool {

/// A bar a phase, as long as its time; empty where the report has no times.
[[nodiscard]] std::string time_bars(const nlohmann::ordered_json& report);

/// A bar a device, with a piece for each thing that it keeps; empty where the report has none.
[[nodiscard]] std::string memory_bars(const nlohmann::ordered_json& report);

} // namespace krylith::tool
