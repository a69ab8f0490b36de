// What `krylith info` finds out, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <krylith/matrix/files/file_report.hpp>
#include <krylith/matrix/statistics.hpp>
#include <krylith/tools/info/matrix_class.hpp>
#include <krylith/tools/model/models.hpp>

namespace krylith::tool {

struct matrix_info {
    std::string name;
    file_report file; ///< of a Matrix Market file, else empty
    matrix_statistics statistics;
    classification kind;
    std::vector<footprint> footprints; ///< square matrices with rows
    double load_seconds = 0;
    double statistics_seconds = 0;
    double footprint_seconds = 0;
};

/// Statistics, class and what the matrix takes on each number of devices, fp64. Throws usage_error
/// for a count outside 1 to the most devices of a group.
[[nodiscard]] matrix_info inspect(const std::string& name, const csr_matrix<double>& matrix,
                                  const std::vector<int>& device_counts);

/// About twenty lines, and a table of what it takes on devices.
[[nodiscard]] std::string summary(const matrix_info& info);

[[nodiscard]] std::string json_report(const matrix_info& info);

/// The solvers whose needs are listed.
[[nodiscard]] std::vector<const solver_method*> listed_solvers();

/// A listed solver with the first listed preconditioner and the usual restart.
[[nodiscard]] method listed_method(const solver_method& solver);

} // namespace krylith::tool
