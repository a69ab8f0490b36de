// The CPU's baseline: Eigen's ConjugateGradient with OpenMP on all cores.
#pragma once

#include <memory>

#include <krylith/bench/common/workload.hpp>
#include <krylith/bench/solver/solver_contestant.hpp>

namespace krylith::bench {

/// Makes the baseline: row-major, Lower|Upper (the product that Eigen runs in parallel), no
/// preconditioner. Throws usage_error for a matrix whose nonzeros 32 bits can't count.
[[nodiscard]] std::unique_ptr<solver_contestant> make_eigen_cg(const workload& w, int threads);

} // namespace krylith::bench
