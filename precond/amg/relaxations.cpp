#include <krylith/precond/amg/relaxations.hpp>

#include <algorithm>

namespace krylith::detail {

namespace {

/// The Chebyshev iteration of the fourth kind (Lottes, arXiv 2202.08830, algorithm 2.1). It needs
/// no lower end of what it smooths.
std::vector<relaxation_step> fourth_kind_steps(int degree) {
    std::vector<relaxation_step> steps;
    for (int k = 1; k <= degree; ++k)
        steps.push_back({(2.0 * k - 3) / (2.0 * k + 1), (8.0 * k - 4) / (2.0 * k + 1)});
    steps.front().a = 0;
    return steps;
}

/// The Chebyshev iteration on [lowest, 1] (Saad, Iterative methods, algorithm 12.1).
std::vector<relaxation_step> first_kind_steps(int degree) {
    constexpr double lowest = 0.1;
    constexpr double middle = (1 + lowest) / 2;
    constexpr double half = (1 - lowest) / 2;
    std::vector<relaxation_step> steps = {{0, 1 / middle}};
    double rho = half / middle;
    for (int k = 2; k <= degree; ++k) {
        const double next = 1 / (2 * middle / half - rho);
        steps.push_back({next * rho, 2 * next / half});
        rho = next;
    }
    return steps;
}

/// For the complex eigenvalues of a matrix that is not symmetric: where those of D^-1 A are in the
/// disc |z - 1| <= 1, as of M-matrices with weakly dominant rows, and rho = 2, no step enlarges
/// anything, which the polynomials above do.
std::vector<relaxation_step> jacobi_steps(int degree) {
    constexpr double weight = 1.6;
    return std::vector<relaxation_step>(static_cast<std::size_t>(degree), {0, weight});
}

constexpr relaxation_method table[] = {
    {multigrid_relaxation::chebyshev, "chebyshev", "Chebyshev polynomial of the fourth kind",
     fourth_kind_steps},
    {multigrid_relaxation::first_kind, "first_kind",
     "Chebyshev polynomial of the first kind, of the upper nine tenths of the spectrum",
     first_kind_steps},
    {multigrid_relaxation::jacobi, "jacobi", "damped Jacobi steps", jacobi_steps},
};

} // namespace

std::span<const relaxation_method> relaxations() noexcept {
    return table;
}

const relaxation_method& relaxation_of(multigrid_relaxation asked, bool unsymmetric) noexcept {
    if (asked == multigrid_relaxation::automatic)
        asked = unsymmetric ? multigrid_relaxation::jacobi : multigrid_relaxation::chebyshev;
    return *std::ranges::find(table, asked, &relaxation_method::kind);
}

} // namespace krylith::detail
