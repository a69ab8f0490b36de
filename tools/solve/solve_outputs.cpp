#include <krylith/tools/solve/solve_outputs.hpp>

#include <vector>

#include <krylith/config.hpp>
#include <krylith/matrix/files/file_formats.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/report/report_curve.hpp>
#include <krylith/tools/report/report_page.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

told_solve tell(const solve_request& request, const solve_outcome& outcome,
                const std::string& command) {
    told_solve told{json_fields(request, outcome), outcome.sparsity};
    told.report["command"] = command;
    return told;
}

told_solve tell_failure(const std::string& matrix, const std::string& error) {
    return {json{{"schema_version", report_schema},
                 {"version", KRYLITH_VERSION},
                 {"matrix", {{"name", matrix}}},
                 {"converged", false},
                 {"error", error}},
            {}};
}

bool is_page(const std::string& path) {
    return has_ending(path, {".html", ".htm"});
}

std::string report_text(std::span<const told_solve> solves, const std::string& path) {
    if (is_page(path)) {
        std::vector<page_entry> entries;
        // What is written and read again has null where a number isn't finite.
        for (const told_solve& one : solves)
            entries.push_back(
                {json::parse(one.report.dump(-1, ' ', false, json::error_handler_t::replace)),
                 one.sparsity});
        return html_report(entries);
    }
    json whole = solves.size() == 1 ? solves.front().report : json::array();
    if (solves.size() != 1)
        for (const told_solve& one : solves) whole.push_back(one.report);
    return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string plot_text(std::span<const told_solve> solves) {
    std::vector<const json*> made;
    for (const told_solve& one : solves)
        if (one.report.contains("history")) made.push_back(&one.report);
    return draw(curves_of(made));
}

} // namespace krylith::tool
