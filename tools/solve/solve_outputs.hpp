// The files that tell of solves: JSON, pages and pictures, of one solve or of several.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// A solve that is over, or could not be made.
struct told_solve {
    nlohmann::ordered_json report;
    std::string sparsity; ///< SVG, for pages
};

/// All fields of a report. Numbers that aren't finite are written as null: JSON has no NaN.
[[nodiscard]] told_solve tell(const solve_request& request, const solve_outcome& outcome,
                              const std::string& command);
/// Of a solve that could not be made: the matrix, and the error.
[[nodiscard]] told_solve tell_failure(const std::string& matrix, const std::string& error);

/// Whether a file of this name is a page, and not JSON.
[[nodiscard]] bool is_page(const std::string& path);

/// One report, or an array of them where several solves were asked for; as a page where the name
/// says so.
[[nodiscard]] std::string report_text(std::span<const told_solve> solves, const std::string& path);

/// The convergence curves of the solves that were made, in one SVG.
[[nodiscard]] std::string plot_text(std::span<const told_solve> solves);

} // namespace krylith::tool
