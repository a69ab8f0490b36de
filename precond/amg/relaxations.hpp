// The relaxations of a multigrid cycle: polynomials of the scaled matrix, as a table of their
// steps.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <krylith/precond/amg.hpp>

namespace krylith::detail {

/// x = z_1 + ... + z_degree with z_1 = c_1 r and z_k = a_k z_(k - 1) + c_k (r - B x). a_1 is 0.
struct relaxation_step {
    double a;
    double c;
};

struct relaxation_method {
    multigrid_relaxation kind;
    std::string_view name;
    std::string_view help;
    /// The steps for B x = r with eigenvalues of B in [0, 1].
    std::vector<relaxation_step> (*steps)(int degree);
};

[[nodiscard]] std::span<const relaxation_method> relaxations() noexcept;

/// The one that is asked for; where that is none, damped Jacobi for a matrix that is not symmetric,
/// else the polynomial of the fourth kind.
[[nodiscard]] const relaxation_method& relaxation_of(multigrid_relaxation asked,
                                                     bool unsymmetric) noexcept;

} // namespace krylith::detail
