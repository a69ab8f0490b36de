// The JSON that reports are written in.
#pragma once

#include <nlohmann/json.hpp>

namespace krylith::tool {

/// Fields stand in the order in which they are added.
using json = nlohmann::ordered_json;

/// The version: field schema_version of every report. New fields leave it as it is; it grows where
/// a field is renamed, goes away or means something else.
inline constexpr int report_schema = 1;

} // namespace krylith::tool
