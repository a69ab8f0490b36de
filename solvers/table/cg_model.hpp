// What an iteration of CG moves and what a solve keeps, however it is run.
#pragma once

#include <krylith/solvers/table/solver_method.hpp>

namespace krylith::cg_model {

/// What the textbook moves.
[[nodiscard]] std::optional<double> passes(const solver_setting& setting);
[[nodiscard]] solver_vectors vectors(const solver_setting& setting);

} // namespace krylith::cg_model
