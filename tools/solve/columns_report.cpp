#include <krylith/tools/solve/columns_report.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>
#include <krylith/tools/solve/solve_report.hpp>

namespace krylith::tool {

std::string column_lines(const solve_outcome& o) {
    const std::size_t count = o.right_hand_sides.size();
    std::string text = o.one_by_one_because.empty()
                           ? fmt::format("{:<11} {} right-hand sides at once, {} in a loop\n",
                                         "columns", count, o.columns_a_loop)
                           : fmt::format("{:<11} {} right-hand sides one after another: {}\n",
                                         "columns", count, o.one_by_one_because);
    text += fmt::format("{:<11} {:>6} {:>10} {:>10}  {}\n", "", "column", "iterations", "residual",
                        "outcome");
    for (std::size_t j = 0; j < count; ++j) {
        const solve_result& r = o.right_hand_sides[j];
        text += fmt::format("{:<11} {:>6} {:>10} {:>10.3e}  {}\n", "", j + 1, r.iterations,
                            r.relative_residual(), in_words(r.reason));
    }
    const auto good = std::ranges::count_if(o.right_hand_sides, &solve_result::converged);
    return text + fmt::format("{:<11} {} of {} converged\n", "outcome", good, count);
}

json columns_as_json(const solve_outcome& o) {
    if (o.right_hand_sides.empty()) return {};
    json columns = json::array();
    for (const solve_result& r : o.right_hand_sides)
        columns.push_back({{"column", columns.size() + 1},
                           {"reason", to_string(r.reason)},
                           {"converged", r.converged()},
                           {"iterations", r.iterations},
                           {"rhs_norm", r.rhs_norm},
                           {"recurrence_residual", r.recurrence_residual},
                           {"true_residual", r.true_residual},
                           {"relative_true_residual", r.relative_residual()},
                           {"seconds", r.solve_seconds},
                           {"diagnosis", r.diagnosis}});
    return {{"count", o.right_hand_sides.size()},
            {"at_once", o.one_by_one_because.empty()},
            {"columns_a_loop", o.columns_a_loop},
            {"one_by_one_because", o.one_by_one_because},
            {"columns", columns}};
}

} // namespace krylith::tool
