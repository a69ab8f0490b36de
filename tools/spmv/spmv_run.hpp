// One distributed product, checked against a plain loop and timed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/device_group.hpp>
#include <krylith/spmv/fractions/fraction_search.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/operator_request.hpp>

namespace krylith::tool {

struct spmv_request {
    std::string matrix;
    bool spd = false;       ///< made symmetric positive definite
    bool transpose = false; ///< y = alpha A' x + beta y
    std::string x = "ones";
    std::string y = "ones"; ///< read only if beta != 0
    double alpha = 1;
    double beta = 0;
    std::int64_t repeat = 48;
    operator_request multiply;
    device_options devices;
    std::string output_file; ///< y
};

struct spmv_outcome {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nnz = 0;
    std::vector<std::string> devices;
    backend kind = backend::host;
    std::string operator_name;
    std::string operator_because;
    std::optional<fraction_choice> fractions; ///< of lra and lra-rc, where they are tuned
    std::string transport;                    ///< how entries crossed devices
    std::string transport_because;
    std::string format_name;
    double narrow_fraction = 0; ///< of the values, matrix_operator::narrow_fraction()
    reordering_report reordered;
    bool recorded = false;
    double load_seconds = 0;
    double setup_seconds = 0;
    double seconds = 0;                 ///< of one product, exchange included
    double bytes = 0;                   ///< that one product can't avoid, on all devices together
    std::vector<std::int64_t> received; ///< entries by device
    std::vector<std::int64_t> matrix_bytes; ///< read by device, padding included
    double largest_difference = 0;          ///< max |y_i - reference_i|
    double relative_difference = 0;         ///< the same by row, over |alpha| |A| |x| + |beta| |y|
    bool agrees = false;                    ///< no row differs by more than rounding explains
    std::vector<std::string> warnings;
};

/// T is the type of request.multiply.precision. Writes request.output_file.
template <class T>
[[nodiscard]] spmv_outcome run_spmv(const spmv_request& request);

/// Throws usage_error for a number of products, or factors, that are not allowed.
void check_numbers(const spmv_request& request);

/// Compares y with what a plain loop makes of x and the y before, in the widest type. A transposed
/// product is added up column by column as the rows come, so that no transposed matrix is needed.
template <class T>
void compare_with_loop(const spmv_request& request, const csr_matrix<T>& matrix,
                       std::span<const T> x, std::span<const T> y, std::span<const T> result,
                       spmv_outcome& out);

/// Lines of a summary: of the matrix, and of how far compare_with_loop() found the result off.
[[nodiscard]] std::string matrix_line(const spmv_request& request, const spmv_outcome& o);
[[nodiscard]] std::string difference_line(const spmv_outcome& o);

/// Seconds of y = alpha A x + beta y, what peers need of x sent anew each time. `settings`: its
/// mode is that of the operator.
template <class T>
[[nodiscard]] double time_product(const matrix_operator<T>& a, vector<T>& x, T alpha, T beta,
                                  std::int64_t trips, execution_options settings);

} // namespace krylith::tool
