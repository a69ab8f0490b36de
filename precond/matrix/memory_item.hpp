#pragma once

namespace krylith {

/// The item of a device's memory ledger under which the arrays of preconditioners are.
inline constexpr const char* precond_item = "preconditioner";

} // namespace krylith
