// The version of the JSON that reports are written in.
#pragma once

namespace krylith::tool {

/// Field schema_version of every report. New fields leave it as it is; it grows where a field is
/// renamed, goes away or means something else.
inline constexpr int report_schema = 1;

} // namespace krylith::tool
