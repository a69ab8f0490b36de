// What is known of a matrix, for people and for programs.
#pragma once

#include <string>

#include <krylith/tools/info/info_run.hpp>

namespace krylith::tool {

/// About twenty lines, and a table of what it takes on devices.
[[nodiscard]] std::string summary(const matrix_info& info);

[[nodiscard]] std::string json_report(const matrix_info& info);

/// For a GMRES(restart) with Jacobi and so on: the methods whose needs are listed.
[[nodiscard]] method listed_method(const std::string& solver);

} // namespace krylith::tool
