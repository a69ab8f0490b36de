// The spectrum by the coefficients of CG.
//
// Saad, Iterative Methods, 2nd ed., section 6.7.3: CG is the Lanczos process, and its alpha and
// beta make the tridiagonal matrix T whose eigenvalues (Ritz values) lie between the extreme
// eigenvalues of the preconditioned A and approach them.
#pragma once

#include <optional>
#include <span>

#include <krylith/solvers/result.hpp>

namespace krylith {

/// The extreme eigenvalues of T for alpha_j and beta_j of successive iterations, all > 0 but the
/// last beta, which isn't used; to about 1e-12 of each. Nothing where there are no such iterations.
/// Costs some 100 passes over T.
[[nodiscard]] std::optional<spectrum_estimate> extreme_ritz_values(std::span<const double> alpha,
                                                                   std::span<const double> beta);

/// The smaller and the larger of two estimates of one matrix.
[[nodiscard]] std::optional<spectrum_estimate> joined(const std::optional<spectrum_estimate>& a,
                                                      const std::optional<spectrum_estimate>& b);

} // namespace krylith
