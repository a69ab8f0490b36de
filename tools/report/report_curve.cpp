#include <krylith/tools/report/report_curve.hpp>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/report/report_fields.hpp>

namespace krylith::tool {

namespace {

std::string title_of(const json& report) {
    const std::string matrix = text_at(report, "/matrix/name");
    const std::string preconditioner = text_at(report, "/preconditioner");
    const std::size_t devices = report.contains("devices") ? report["devices"].size() : 0;
    return fmt::format("{}{} on {}, {} device{}", text_at(report, "/solver"),
                       preconditioner.empty() || preconditioner == "none" ? ""
                                                                          : " + " + preconditioner,
                       matrix.substr(matrix.rfind('/') + 1), devices, devices == 1 ? "" : "s");
}

} // namespace

std::vector<report_curve> curves_of(const std::vector<const json*>& reports) {
    std::vector<report_curve> curves(reports.size());
    for (std::size_t k = 0; k < reports.size(); ++k) {
        const json& report = *reports[k];
        report_curve& one = curves[k];
        if (report.contains("history"))
            for (const json& norm : report["history"])
                one.history.push_back(norm.is_number() ? norm.get<double>()
                                                       : std::numeric_limits<double>::quiet_NaN());
        const double rhs_norm = number_at(report, "/rhs_norm").value_or(0);
        const double target = std::max(number_at(report, "/options/rtol").value_or(0) * rhs_norm,
                                       number_at(report, "/options/atol").value_or(0));
        one.curve = {.title = title_of(report),
                     .history = one.history,
                     .rhs_norm = rhs_norm,
                     .target = target,
                     .true_residual = number_at(report, "/true_residual").value_or(0)};
    }
    return curves;
}

std::string draw(const std::vector<report_curve>& curves) {
    if (curves.size() == 1) return svg(curves.front().curve);
    std::vector<convergence_curve> all;
    for (const report_curve& one : curves) all.push_back(one.curve);
    return svg(fmt::format("{} solves", curves.size()), all);
}

} // namespace krylith::tool
