// How far the ranks of PageRank can be from their limits, and after how many steps it pays to
// compute that bound again.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace krylith {

/// The bound 2 |s| / ((1 - d) |r|) on the sum of all errors (pagerank.hpp derives it).
class pagerank_bound {
public:
    static constexpr double most = 2; ///< of any two distributions

    pagerank_bound(double damping, double tolerance) : damping_(damping), tolerance_(tolerance) {}

    /// `residuals`: the sum of their magnitudes; `ranks`: their sum.
    [[nodiscard]] double of(double residuals, double ranks) const {
        if (residuals == 0) return 0;
        return ranks > 0 ? 2 * residuals / ((1 - damping_) * ranks)
                         : std::numeric_limits<double>::infinity();
    }

    /// The steps of the power method that take `bound` to the tolerance, at least 1: each brings
    /// what is under way down to d of it.
    [[nodiscard]] std::int64_t steps_from(double bound) const {
        const double steps = std::log(tolerance_ / bound) / std::log(damping_);
        return static_cast<std::int64_t>(std::ceil(std::max(steps, 1.0)));
    }

    /// Steps before the next check of a bound that falls to `rate` of itself in each. These are
    /// fewer than should take it to the tolerance, since it may fall faster: a check costs as much
    /// as a tenth of a step of a small graph, a step too many costs all of one.
    [[nodiscard]] std::int64_t steps_to_next_check(double bound, double rate) const {
        if (!(rate < 1)) return 1;
        const double steps = std::log(tolerance_ / bound) / std::log(rate);
        return static_cast<std::int64_t>(std::clamp(0.75 * steps, 1.0, 1e6));
    }

private:
    double damping_;
    double tolerance_;
};

/// The bound of dense power steps at one of them, of the ranks before it.
struct bound_check {
    std::int64_t step;
    double bound;      ///< may be above pagerank_bound::most
    double surplus;    ///< what residuals will add up to after the next product
    double magnitudes; ///< of residuals
};

} // namespace krylith
