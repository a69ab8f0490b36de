// Convergence curves of solves as a picture.
#pragma once

#include <span>
#include <string>

namespace krylith::tool {

struct convergence_curve {
    std::string title;
    std::span<const double> history; ///< ||r|| by iteration, the start included
    double rhs_norm;                 ///< what residuals are shown relative to; 0: absolute
    double target;                   ///< the norm to fall to, drawn as a line; 0: none
    double true_residual;            ///< drawn as a point behind the last iteration
};

/// A self-contained SVG: residuals on a logarithmic scale over iterations. Values that are zero or
/// not finite are left out.
[[nodiscard]] std::string svg(const convergence_curve& curve);

/// The same for several, each in a colour and with its title in the legend, which tells at most 12
/// of them; the tolerance is drawn where it is the same for all.
[[nodiscard]] std::string svg(const std::string& title, std::span<const convergence_curve> curves);

} // namespace krylith::tool
