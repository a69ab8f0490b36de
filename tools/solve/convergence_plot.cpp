#include <krylith/tools/solve/convergence_plot.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include <krylith/tools/cli/svg_drawing.hpp>

namespace krylith::tool {

namespace {

// The canvas in pixels, and the frame inside it that the curve fills.
constexpr double width = 720;
constexpr double height = 440;
constexpr double left = 78;
constexpr double right = width - 24;
constexpr double top = 52;
constexpr double bottom = height - 58;

/// More points than the frame has pixels show nothing.
constexpr std::size_t most_points = 2000;

constexpr const char* style =
    R"(.curve { stroke: #1f6fb4; stroke-width: 2; fill: none; stroke-linejoin: round }
.target { stroke: #c0392b; stroke-dasharray: 6 4 }
.true { fill: #fff; stroke: #c0392b; stroke-width: 2 }
)";

std::string circle(double x, double y) {
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" class=\"true\"/>\n", x, y);
}

/// From iterations and residuals to pixels, with lines at whole decades.
class axes {
public:
    explicit axes(const convergence_curve& curve)
        : unit_(curve.rhs_norm > 0 ? curve.rhs_norm : 1),
          iterations_(curve.history.size() > 1 ? static_cast<double>(curve.history.size() - 1)
                                               : 1) {
        std::optional<double> least;
        std::optional<double> most;
        const auto include = [&](double norm) {
            if (!drawable(norm)) return;
            const double decade = std::log10(norm / unit_);
            least = std::min(least.value_or(decade), decade);
            most = std::max(most.value_or(decade), decade);
        };
        for (const double norm : curve.history) include(norm);
        include(curve.target);
        include(curve.true_residual);
        least_ = least.value_or(-1) - 0.3;
        most_ = most.value_or(0) + 0.3;
        if (std::ceil(least_) > std::floor(most_))
            least_ = std::floor(least_); // one label at least
    }

    [[nodiscard]] static bool drawable(double norm) { return std::isfinite(norm) && norm > 0; }
    [[nodiscard]] double x(double iteration) const {
        return left + (right - left) * iteration / static_cast<double>(iterations_);
    }
    [[nodiscard]] double y(double norm) const { return y_of_decade(std::log10(norm / unit_)); }

    [[nodiscard]] std::string draw() const {
        std::string out;
        const int step = static_cast<int>(std::ceil((most_ - least_) / 9));
        const int lowest = static_cast<int>(std::ceil(least_));
        const int highest = step * static_cast<int>(std::floor(most_ / step));
        for (int decade = highest; decade >= lowest; decade -= step) {
            const double at = y_of_decade(decade);
            out += svg_line(left, at, right, at, "grid");
            out += svg_text(left - 8, at + 4, "text-anchor=\"end\"", fmt::format("1e{}", decade));
        }
        const std::int64_t stride = round_step(iterations_);
        for (std::int64_t k = 0; k <= iterations_; k += stride) {
            const double at = x(static_cast<double>(k));
            out += svg_line(at, top, at, bottom, "grid");
            out += svg_text(at, bottom + 20, "text-anchor=\"middle\"", fmt::format("{}", k));
        }
        out += svg_frame(left, top, right - left, bottom - top);
        return out;
    }

private:
    [[nodiscard]] double y_of_decade(double decade) const {
        return top + (bottom - top) * (most_ - decade) / (most_ - least_);
    }

    double unit_;
    std::int64_t iterations_;
    double least_;
    double most_;
};

std::string draw_curve(const convergence_curve& curve, const axes& scale) {
    const std::size_t stride = curve.history.size() / most_points + 1;
    std::string points;
    for (std::size_t k = 0; k < curve.history.size(); ++k) {
        if (k % stride != 0 && k + 1 != curve.history.size()) continue;
        if (!axes::drawable(curve.history[k])) continue;
        points += fmt::format("{:.1f},{:.1f} ", scale.x(static_cast<double>(k)),
                              scale.y(curve.history[k]));
    }
    return "<polyline class=\"curve\" points=\"" + points + "\"/>\n";
}

std::string draw_marks(const convergence_curve& curve, const axes& scale) {
    std::string out;
    if (axes::drawable(curve.target)) {
        const double at = scale.y(curve.target);
        out += svg_line(left, at, right, at, "target");
        out += svg_text(left + 8, at - 6, "", "tolerance");
    }
    if (axes::drawable(curve.true_residual)) {
        const double at = scale.y(curve.true_residual);
        out += circle(right, at);
        // The legend stands in the corner that the end of the curve leaves free.
        const double legend = at > (top + bottom) / 2 ? top + 24 : bottom - 20;
        out += circle(right - 176, legend - 4);
        out += svg_text(right - 164, legend, "", "true residual at the end");
    }
    return out;
}

} // namespace

std::string svg(const convergence_curve& curve) {
    const axes scale(curve);
    std::string out = svg_start(width, height, style);
    out += svg_text(left, 30, "class=\"title\"", curve.title);
    out += scale.draw();
    out += draw_curve(curve, scale);
    out += draw_marks(curve, scale);
    out += svg_text((left + right) / 2, height - 14, "text-anchor=\"middle\"", "iteration");
    const std::string turned =
        fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 20 {0})\"", (top + bottom) / 2);
    out += svg_text(20, (top + bottom) / 2, turned,
                    curve.rhs_norm > 0 ? "residual, relative to ||b||" : "residual");
    return out + "</svg>\n";
}

} // namespace krylith::tool
