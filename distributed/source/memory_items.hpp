// The items of a device's memory ledger under which arrays of operators are.
#pragma once

namespace krylith {

inline constexpr const char* matrix_item = "matrix";
inline constexpr const char* set_up_item = "set-up";

} // namespace krylith
