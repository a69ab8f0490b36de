// One product with a sparse x on one device, checked against a plain loop and timed.
#pragma once

#include <cstdint>
#include <string>

#include <krylith/tools/cli/kernel_choice.hpp>
#include <krylith/tools/spmv/spmv_run.hpp>

namespace krylith::tool {

/// What --sparse shows as its type.
inline constexpr const char* sparse_vector_forms = "FILE|-|ones:I,I,...";

/// The path of the file with x, "" for ones:I,I,...
[[nodiscard]] std::string sparse_vector_path(const std::string& x);

struct sparse_product_outcome : spmv_outcome {
    std::int64_t x_entries = 0;
    std::int64_t y_entries = 0;
    std::int64_t effective_nonzeros = 0; ///< of A, in columns where x has entries
    std::string kernel;                  ///< that was used
    std::string model;                   ///< that chose it; empty: it was asked for
    double select_seconds = 0;           ///< of choosing, in the first product
};

/// Computes y = alpha A x, or A', of request.matrix and the options that need no operator, and
/// writes request.output_file. `x`: a matrix of one column in a file, or "ones:I,I,...". Throws
/// usage_error for wrong names and numbers and for several devices, input_error for an x that
/// doesn't fit.
template <class T>
[[nodiscard]] sparse_product_outcome
run_sparse_product(const spmv_request& request, const std::string& x, const std::string& kernel);

[[nodiscard]] std::string json_report(const spmv_request& request, const std::string& x,
                                      const sparse_product_outcome& o);
[[nodiscard]] std::string summary(const spmv_request& request, const std::string& x,
                                  const sparse_product_outcome& o);

} // namespace krylith::tool
