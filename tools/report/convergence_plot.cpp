#include <krylith/tools/report/convergence_plot.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include <krylith/tools/cli/svg_drawing.hpp>

namespace krylith::tool {

namespace {

// The canvas in pixels, and the frame inside it that the curve fills.
constexpr double curve_width = 720;
constexpr double curve_height = 440;
constexpr double frame_left = 78;
constexpr double frame_right = curve_width - 24;
constexpr double frame_top = 52;
constexpr double frame_bottom = curve_height - 58;

/// More points than the frame has pixels show nothing.
constexpr std::size_t most_points = 2000;

/// Of the curves, told apart by people who see few colours, too (Okabe and Ito, 2008).
constexpr std::array<const char*, 7> curve_colours = {"#1f6fb4", "#e69f00", "#009e73", "#cc79a7",
                                                      "#d55e00", "#56b4e9", "#555555"};

constexpr std::size_t most_titles = 12;
constexpr std::size_t longest_title = 60;

constexpr const char* style =
    R"(.curve { stroke-curve_width: 2; fill: none; stroke-linejoin: round }
.target { stroke: #c0392b; stroke-dasharray: 6 4 }
.true { fill: #fff; stroke: #c0392b; stroke-curve_width: 2 }
)";

std::string circle(double x, double y) {
    return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" class=\"true\"/>\n", x, y);
}

double unit_of(const convergence_curve& curve) {
    return curve.rhs_norm > 0 ? curve.rhs_norm : 1;
}

/// From iterations and residuals to pixels, with lines at whole decades.
class curve_axes {
public:
    explicit curve_axes(std::span<const convergence_curve> curves) {
        std::optional<double> least;
        std::optional<double> most;
        for (const convergence_curve& curve : curves) {
            const auto include = [&](double norm) {
                if (!drawable(norm)) return;
                const double decade = std::log10(norm / unit_of(curve));
                least = std::min(least.value_or(decade), decade);
                most = std::max(most.value_or(decade), decade);
            };
            for (const double norm : curve.history) include(norm);
            include(curve.target);
            include(curve.true_residual);
            iterations_ =
                std::max(iterations_, static_cast<std::int64_t>(curve.history.size()) - 1);
        }
        least_ = least.value_or(-1) - 0.3;
        most_ = most.value_or(0) + 0.3;
        if (std::ceil(least_) > std::floor(most_))
            least_ = std::floor(least_); // one label at least
    }

    [[nodiscard]] static bool drawable(double norm) { return std::isfinite(norm) && norm > 0; }
    [[nodiscard]] double x(double iteration) const {
        return frame_left +
               (frame_right - frame_left) * iteration / static_cast<double>(iterations_);
    }
    [[nodiscard]] double y(const convergence_curve& curve, double norm) const {
        return y_of_decade(std::log10(norm / unit_of(curve)));
    }

    [[nodiscard]] std::string draw() const {
        std::string out;
        const int step = static_cast<int>(std::ceil((most_ - least_) / 9));
        const int lowest = static_cast<int>(std::ceil(least_));
        const int highest = step * static_cast<int>(std::floor(most_ / step));
        for (int decade = highest; decade >= lowest; decade -= step) {
            const double at = y_of_decade(decade);
            out += svg_line(frame_left, at, frame_right, at, "grid");
            out += svg_text(frame_left - 8, at + 4, "text-anchor=\"end\"",
                            fmt::format("1e{}", decade));
        }
        const std::int64_t stride = round_step(iterations_);
        for (std::int64_t k = 0; k <= iterations_; k += stride) {
            const double at = x(static_cast<double>(k));
            out += svg_line(at, frame_top, at, frame_bottom, "grid");
            out += svg_text(at, frame_bottom + 20, "text-anchor=\"middle\"", fmt::format("{}", k));
        }
        out += svg_frame(frame_left, frame_top, frame_right - frame_left, frame_bottom - frame_top);
        return out;
    }

private:
    [[nodiscard]] double y_of_decade(double decade) const {
        return frame_top + (frame_bottom - frame_top) * (most_ - decade) / (most_ - least_);
    }

    std::int64_t iterations_ = 1;
    double least_;
    double most_;
};

std::string draw_curve(const convergence_curve& curve, const curve_axes& scale,
                       const char* colour) {
    const std::size_t stride = curve.history.size() / most_points + 1;
    std::string points;
    for (std::size_t k = 0; k < curve.history.size(); ++k) {
        if (k % stride != 0 && k + 1 != curve.history.size()) continue;
        if (!curve_axes::drawable(curve.history[k])) continue;
        points += fmt::format("{:.1f},{:.1f} ", scale.x(static_cast<double>(k)),
                              scale.y(curve, curve.history[k]));
    }
    return fmt::format("<polyline class=\"curve\" stroke=\"{}\" points=\"{}\"/>\n", colour, points);
}

std::string draw_target(const convergence_curve& curve, const curve_axes& scale) {
    if (!curve_axes::drawable(curve.target)) return {};
    const double at = scale.y(curve, curve.target);
    return svg_line(frame_left, at, frame_right, at, "target") +
           svg_text(frame_left + 8, at - 6, "", "tolerance");
}

std::string draw_marks(const convergence_curve& curve, const curve_axes& scale) {
    std::string out = draw_target(curve, scale);
    if (curve_axes::drawable(curve.true_residual)) {
        const double at = scale.y(curve, curve.true_residual);
        out += circle(frame_right, at);
        // The legend stands in the corner that the end of the curve leaves free.
        const double legend =
            at > (frame_top + frame_bottom) / 2 ? frame_top + 24 : frame_bottom - 20;
        out += circle(frame_right - 176, legend - 4);
        out += svg_text(frame_right - 164, legend, "", "true residual at the end");
    }
    return out;
}

/// The titles of the curves, at the right edge above, where curves seldom are.
std::string draw_titles(std::span<const convergence_curve> curves) {
    std::string out;
    const std::size_t shown = std::min(curves.size(), most_titles);
    for (std::size_t k = 0; k < shown; ++k) {
        const double y = frame_top + 18 + 18 * static_cast<double>(k);
        const bool last = k + 1 == shown && curves.size() > shown;
        std::string title = last ? fmt::format("and {} more", curves.size() - k) : curves[k].title;
        if (title.size() > longest_title) title = title.substr(0, longest_title) + "...";
        if (!last)
            out += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"12\" height=\"4\" "
                               "fill=\"{}\"/>\n",
                               frame_right - 20, y - 6, curve_colours[k % curve_colours.size()]);
        out += svg_text(frame_right - 28, y, "text-anchor=\"end\"", title);
    }
    return out;
}

bool same_targets(std::span<const convergence_curve> curves) {
    const auto relative = [](const convergence_curve& curve) {
        return curve.target / unit_of(curve);
    };
    return std::ranges::all_of(curves, [&](const convergence_curve& curve) {
        return std::fabs(relative(curve) - relative(curves.front())) <=
               1e-12 * std::fabs(relative(curve));
    });
}

} // namespace

std::string svg(const convergence_curve& curve) {
    return svg(curve.title, std::span(&curve, 1));
}

std::string svg(const std::string& title, std::span<const convergence_curve> curves) {
    const curve_axes scale(curves);
    std::string out = svg_start(curve_width, curve_height, style);
    out += svg_text(frame_left, 30, "class=\"title\"", title);
    out += scale.draw();
    for (std::size_t k = 0; k < curves.size(); ++k)
        out += draw_curve(curves[k], scale, curve_colours[k % curve_colours.size()]);
    if (curves.size() == 1)
        out += draw_marks(curves.front(), scale);
    else if (!curves.empty())
        out +=
            (same_targets(curves) ? draw_target(curves.front(), scale) : "") + draw_titles(curves);
    out += svg_text((frame_left + frame_right) / 2, curve_height - 14, "text-anchor=\"middle\"",
                    "iteration");
    const std::string turned = fmt::format(
        "text-anchor=\"middle\" transform=\"rotate(-90 20 {0})\"", (frame_top + frame_bottom) / 2);
    const bool relative =
        std::ranges::all_of(curves, [](const convergence_curve& c) { return c.rhs_norm > 0; });
    out += svg_text(20, (frame_top + frame_bottom) / 2, turned,
                    relative ? "residual, relative to ||b||" : "residual");
    return out + "</svg>\n";
}

} // namespace krylith::tool
