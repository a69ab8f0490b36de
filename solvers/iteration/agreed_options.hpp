// The options of a solve by several drivers.
#pragma once

#include <string_view>

#include <krylith/comm/communicator.hpp>
#include <krylith/solvers/options.hpp>

namespace krylith {

/// Returns the options with which all drivers of a solve do the same: where one is given a callback
/// or a stop token, the others get one that does nothing, and the shortest time is that of all.
/// Throws usage_error for all unless the other options, and the solver, are the same everywhere.
/// Collective.
[[nodiscard]] solver_options agreed_options(const communicator& comm, solver_options options,
                                            std::string_view solver);

} // namespace krylith
