// Feeds any arrays as a CSR matrix: it is refused by validate(), or converted, stored and
// multiplied without a fault and with the right result, in every format.
#include <cstddef>
#include <cstdint>
#include <span>

#include <krylith/device/error.hpp>
#include <krylith/matrix/csr.hpp>
#include <krylith/tests/fuzz/support/csr_arrays.hpp>
#include <krylith/tests/fuzz/support/csr_oracle.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto arrays = krylith::fuzz::take_csr_arrays(std::span(data, size));
    const auto matrix = arrays.view();
    try {
        validate(matrix);
    } catch (const krylith::input_error&) {
        return 0;
    }
    // A result with a row for each column of a wide matrix would only cost memory.
    const bool narrow = matrix.columns <= 4096;
    if (narrow) krylith::fuzz::require_conversions(matrix);
    if (narrow || matrix.rows == matrix.columns) krylith::fuzz::require_products(matrix);
    return 0;
}
