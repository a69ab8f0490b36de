// The GPU's baseline: CG as it is usually written with cuSPARSE and cuBLAS, the scalars on the
// host. Defined where KRYLITH_HAVE_CUDA is 1.
#pragma once

#include <memory>

#include <krylith/bench/common/workload.hpp>
#include <krylith/bench/solver/solver_contestant.hpp>

namespace krylith::bench {

/// Makes the baseline on one CUDA device, with the faster of cuSPARSE's default and CSR_ALG1
/// products (timed when it is made; name() says which). Throws usage_error for a matrix whose
/// nonzeros 32 bits can't count.
[[nodiscard]] std::unique_ptr<solver_contestant> make_cublas_cg(const workload& w, int ordinal);

} // namespace krylith::bench
