// The convergence curve that a report has.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <krylith/tools/report/convergence_plot.hpp>

namespace krylith::tool {

/// A curve and the numbers that it shows.
struct report_curve {
    std::vector<double> history;
    convergence_curve curve;
};

/// The residuals of a solve, titled by matrix and method. What is null in the report (no number) is
/// left out of the picture.
[[nodiscard]] std::vector<report_curve>
curves_of(const std::vector<const nlohmann::ordered_json*>& reports);

/// The picture of one curve or several; a title is given where there are several.
[[nodiscard]] std::string draw(const std::vector<report_curve>& curves);

} // namespace krylith::tool
