#include <krylith/solvers/iteration/spectrum.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace krylith {

namespace {

/// T = L D L' with unit lower bidiagonal L: D_j = 1 / alpha_j and L_j^2 D_j = beta_j / alpha_j. Its
/// eigenvalues are determined by these to high relative accuracy, which those of the sums on the
/// diagonal of T are not (Dhillon and Parlett, Linear Algebra Appl. 387, 2004).
struct factored_tridiagonal {
    std::vector<double> pivots;    ///< D
    std::vector<double> couplings; ///< L_j^2 D_j, one less

    /// The number of eigenvalues below `shift`: the negative pivots of T - shift I, by the
    /// stationary quotient-difference algorithm.
    [[nodiscard]] std::size_t below(double shift) const {
        std::size_t count = 0;
        double rest = -shift;
        for (std::size_t j = 0; j < pivots.size(); ++j) {
            double pivot = pivots[j] + rest;
            if (pivot == 0) pivot = -std::numeric_limits<double>::min();
            if (pivot < 0) ++count;
            if (j < couplings.size()) {
                const double ratio = rest / pivot;
                rest = (std::isfinite(ratio) ? ratio : 1) * couplings[j] - shift;
            }
        }
        return count;
    }

    /// The eigenvalue that has `rank` others below it, between low and high.
    [[nodiscard]] double find(std::size_t rank, double low, double high) const {
        while (high - low > 1e-12 * high) {
            const double middle = low + (high - low) / 2;
            if (middle <= low || middle >= high) break;
            (below(middle) > rank ? high : low) = middle;
        }
        return high;
    }
};

} // namespace

std::optional<spectrum_estimate> extreme_ritz_values(std::span<const double> alpha,
                                                     std::span<const double> beta) {
    factored_tridiagonal t;
    double largest_sum = 0; // of a row of |T|
    double smallest_diagonal = std::numeric_limits<double>::infinity();
    double coupling = 0;
    double before = 0;
    for (std::size_t j = 0; j < alpha.size(); ++j) {
        if (!(alpha[j] > 0 && std::isfinite(1 / alpha[j]))) break;
        const bool last = j + 1 == alpha.size() || !(beta[j] > 0) || !std::isfinite(beta[j]);
        t.pivots.push_back(1 / alpha[j]);
        const double diagonal = 1 / alpha[j] + coupling;
        const double beside = last ? 0 : std::sqrt(beta[j]) / alpha[j];
        smallest_diagonal = std::min(smallest_diagonal, diagonal);
        largest_sum = std::max(largest_sum, diagonal + before + beside);
        if (last) break;
        coupling = beta[j] / alpha[j];
        before = beside;
        t.couplings.push_back(coupling);
    }
    const std::size_t size = t.pivots.size();
    if (size == 0 || !std::isfinite(largest_sum)) return std::nullopt;
    t.couplings.resize(size - 1);
    const double high = largest_sum * (1 + 1e-12);
    double top = smallest_diagonal * (1 + 1e-12); // no eigenvalue is smaller than all of T's
    double bottom = top / 16;
    while (bottom > 0 && t.below(bottom) > 0) {
        top = bottom;
        bottom /= 16;
    }
    return spectrum_estimate{t.find(0, bottom, top), t.find(size - 1, 0, high)};
}

std::optional<spectrum_estimate> joined(const std::optional<spectrum_estimate>& a,
                                        const std::optional<spectrum_estimate>& b) {
    if (!a || !b) return a ? a : b;
    return spectrum_estimate{std::min(a->smallest, b->smallest), std::max(a->largest, b->largest)};
}

} // namespace krylith
