// What a solve by GMRES keeps, however it makes its basis orthogonal.
#pragma once

#include <krylith/solvers/table/solver_method.hpp>

namespace krylith::gmres_model {

[[nodiscard]] solver_vectors vectors(const solver_setting& setting);

} // namespace krylith::gmres_model
