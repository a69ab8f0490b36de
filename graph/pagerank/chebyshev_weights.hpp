// Weights of the Chebyshev semi-iterative method (Golub and Varga 1961; Saad, Iterative Methods for
// Sparse Linear Systems, 12.3), which extrapolates the iteration x = B x + c: with residuals
// s = c + B x - x each step changes x by w s + (w - 1) times the change of the step before.
#pragma once

#include <cmath>

namespace krylith {

/// The weights for real eigenvalues of B in [-radius, radius], 0 <= radius < 1.
class chebyshev_weights {
public:
    explicit chebyshev_weights(double radius) : square_(radius * radius) {}
    /// Returns the weight of step 1, 2, ...
    [[nodiscard]] double next() {
        weight_ = weight_ == 0 ? 1 : 1 / (1 - square_ * weight_ / (weight_ == 1 ? 2 : 4));
        return weight_;
    }
    /// The factor by which residuals fall in a step, after some; in unweighted steps it is the
    /// radius.
    [[nodiscard]] double rate() const {
        return square_ == 0 ? 0 : (1 - std::sqrt(1 - square_)) / std::sqrt(square_);
    }

private:
    double square_;
    double weight_ = 0; ///< 0: no step yet
};

} // namespace krylith
