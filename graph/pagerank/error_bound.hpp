// A bound on the distance of PageRank's ranks from their limits, and the number of steps after
// which it pays to compute it again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace krylith {

/// The bound 2 |s| / ((1 - d) |r|) on the sum of all errors (pagerank.hpp derives it).
class pagerank_bound {
public:
    static constexpr double most = 2; ///< the largest distance of two distributions

    pagerank_bound(double damping, double tolerance) : damping_(damping), tolerance_(tolerance) {}

    /// Returns the bound. `residuals` is the sum of their magnitudes, `ranks` their sum.
    [[nodiscard]] double of(double residuals, double ranks) const {
        if (residuals == 0) return 0;
        return ranks > 0 ? 2 * residuals / ((1 - damping_) * ranks)
                         : std::numeric_limits<double>::infinity();
    }

    /// The steps of the power method that take `bound` to the tolerance, at least 1: each leaves at
    /// most d of what is still to be passed on.
    [[nodiscard]] std::int64_t steps_from(double bound) const {
        const double steps = std::log(tolerance_ / bound) / std::log(damping_);
        return static_cast<std::int64_t>(std::ceil(std::max(steps, 1.0)));
    }

    /// The steps before the next check of a bound that falls to `rate` of itself in each. They are
    /// fewer than should take it to the tolerance, because it may fall faster: a check costs as
    /// much as a tenth of a step of a small graph, a step too many costs a whole one.
    [[nodiscard]] std::int64_t steps_to_next_check(double bound, double rate) const {
        if (!(rate < 1)) return 1;
        const double steps = std::log(tolerance_ / bound) / std::log(rate);
        return static_cast<std::int64_t>(std::clamp(0.75 * steps, 1.0, 1e6));
    }

private:
    double damping_;
    double tolerance_;
};

/// The bound at one of the dense power steps, for the ranks before it.
struct bound_check {
    std::int64_t step;
    double bound;      ///< may be above pagerank_bound::most
    double surplus;    ///< the sum of residuals after the next product
    double magnitudes; ///< the sum of |residual|
};

} // namespace krylith
