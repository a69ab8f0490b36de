// How many products C = A B has, by rows, and whether the columns of B ascend, on a CUDA device.
#pragma once

#include <cstdint>
#include <memory>

#include <krylith/device/device.hpp>
#include <krylith/sparse/spgemm/row_classes.hpp>
#include <krylith/sparse/spgemm/spgemm_pattern.hpp>

namespace krylith::cuda {

/// What the symbolic phase tells the host; zero before.
struct product_totals {
    unsigned long long products;
    unsigned long long placed;       ///< products of rows that may keep places
    unsigned long long many_placed;  ///< those of rows that class_rules::hash_many adds to these
    unsigned long long most_results; ///< a row has at most as many as columns
    unsigned long long descents;     ///< entries of B that are not below the next one
    unsigned long long row_ends;     ///< those of them that are the last of a row
    unsigned rows_of[static_cast<int>(count_class::number)];
    unsigned of_many;   ///< rows that class_rules::hash_many makes hashed, not wide
    unsigned long_rows; ///< rows of A in the list of long ones
};

/// Counts, and waits. `counts` gets the products of each row, at most 2^32 - 1; it may be null.
[[nodiscard]] product_totals find_product_totals(const std::shared_ptr<device>& device,
                                                 const csr_pattern& a, const csr_pattern& b,
                                                 const class_rules& rules, std::uint32_t* counts);

/// The bytes that this allocates.
[[nodiscard]] std::int64_t product_totals_bytes(const csr_pattern& a);

/// Throws input_error naming the first row of B whose columns do not ascend strictly, where the
/// totals say that there is one.
void refuse_disorder(const std::shared_ptr<device>& device, const csr_pattern& b,
                     const product_totals& totals);

} // namespace krylith::cuda
