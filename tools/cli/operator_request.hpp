// Which matrix to take and which operator to build, in the words of the command line.
#pragma once

#include <string>
#include <string_view>

#include <krylith/matrix/csr.hpp>
#include <krylith/matrix/files/file_report.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::tool {

/// Operators whose choice, or fractions, can be measured, by this behind their names.
inline constexpr std::string_view measured_suffix = ":measured";

struct operator_request {
    std::string kind = "auto"; ///< or auto:measured, lra:measured, lra-rc:measured
    std::string format = "auto";
    std::string order = "none";
    std::string transport = "auto"; ///< of replicated operators
    double long_fraction = -1;
    double redundant_fraction = -1;
    std::string precision = "fp64"; ///< of matrix and vectors; scalars are always fp64

    /// Throws usage_error for an unknown name. Shares are checked by make_operator.
    [[nodiscard]] operator_options options() const;
    /// True for fp32; throws usage_error for an unknown name.
    [[nodiscard]] bool single_precision() const;
};

/// Throws usage_error unless it is fp64 or fp32.
void check_precision(std::string_view name);

/// Throws input_error unless the matrix is square, as solves and distributed products need it.
template <class T>
void check_square(const csr_matrix<T>& matrix, std::string_view name);

/// load_matrix(name), then, for --spd, make_spd. Throws what these throw, and input_error unless
/// the matrix is square, or may be rectangular and isn't made spd.
template <class T>
[[nodiscard]] csr_matrix<T> load_square(std::string_view name, bool spd,
                                        file_report* report = nullptr, bool or_rectangular = false);

} // namespace krylith::tool
