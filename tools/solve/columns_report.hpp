// What came of each of several right-hand sides, for people and for programs.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <krylith/tools/solve/solve_run.hpp>

namespace krylith::tool {

/// How they were solved, and a table with a line a column; columns are counted from 1, as in files.
[[nodiscard]] std::string column_lines(const solve_outcome& outcome);

/// The same by name; null for one right-hand side.
[[nodiscard]] nlohmann::ordered_json columns_as_json(const solve_outcome& outcome);

} // namespace krylith::tool
