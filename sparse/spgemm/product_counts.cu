// The products of C = A B, counted on a CUDA device.
#include <algorithm>
#include <vector>

#include <krylith/device/loops/two_pass_scan.cuh>
#include <krylith/device/memory/buffer.hpp>
#include <krylith/sparse/spgemm/byte_peak.hpp>
#include <krylith/sparse/spgemm/dense_blocks.hpp>
#include <krylith/sparse/spgemm/neighbour_records.hpp>
#include <krylith/sparse/spgemm/product_counts.cuh>
#include <krylith/sparse/spgemm/row_lists.cuh>
#include <krylith/sparse/spgemm/spgemm_phases.hpp>
#include <krylith/sparse/spgemm/spgemm_plan.hpp>

#include <krylith/device/cuda/launch_over.cuh>

namespace krylith::cuda {

namespace {

/// The most rows of A that are long.
std::int64_t most_long_rows(const csr_pattern& a) {
    return std::min(a.rows, a.nonzeros / long_rows::entries);
}

std::int64_t first_disorder(const std::shared_ptr<device>& device, const csr_pattern& b) {
    std::uint64_t row = ~std::uint64_t{0};
    const buffer<unsigned long long> found(device, 1, product_item);
    device->upload(found.data(), &row, sizeof row);
    launch_blocks(*device, b.rows / 32 + 1, find_disorder, b, found.data());
    device->download(&row, found.data(), sizeof row);
    return static_cast<std::int64_t>(row);
}

/// Throws input_error for a row of B.
[[noreturn]] void refuse_row(device& device, const csr_pattern& b, std::int64_t row) {
    std::int64_t range[2];
    device.download(range, b.offsets + row, sizeof range);
    std::vector<std::int32_t> columns(static_cast<std::size_t>(range[1] - range[0]));
    device.download(columns.data(), b.indices + range[0], columns.size() * sizeof(std::int32_t));
    std::size_t at = 1;
    while (at + 1 < columns.size() && columns[at - 1] < columns[at]) ++at;
    detail::refuse_order("spgemm", "B", row, columns[at - 1], columns[at]);
}

} // namespace

product_totals find_product_totals(const std::shared_ptr<device>& device, const csr_pattern& a,
                                   const csr_pattern& b, const class_rules& rules,
                                   std::uint32_t* counts) {
    const auto most = static_cast<std::size_t>(most_long_rows(a));
    const buffer<product_totals> totals(device, 1, product_item);
    const buffer<std::int32_t> rows(device, most, product_item);
    const buffer<unsigned long long> products(device, most, product_item);
    totals.zero();
    products.zero();
    const long_rows later{rows.data(), products.data()};
    launch_over(*device, a.rows, count_products, a, b.offsets, rules, counts, later, totals.data());
    if (most != 0) {
        launch_blocks(*device, a.nonzeros / block_threads + 1, add_up_long_rows, a, b.offsets,
                      later, totals.data());
        launch_blocks(*device, 1, count_long_rows, a, rules, counts, later, totals.data());
    }
    if (!b.ascends)
        launch_blocks(*device, (b.nonzeros + b.rows) / block_threads + 1, count_descents, b,
                      totals.data());
    product_totals found{};
    device->download(&found, totals.data(), sizeof found);
    return found;
}

std::int64_t product_totals_bytes(const csr_pattern& a) {
    return 12 * most_long_rows(a) + std::int64_t{sizeof(product_totals)};
}

void refuse_disorder(const std::shared_ptr<device>& device, const csr_pattern& b,
                     const product_totals& totals) {
    if (totals.descents != totals.row_ends) refuse_row(*device, b, first_disorder(device, b));
}

spgemm_estimate estimate_products(const std::shared_ptr<device>& device, const csr_pattern& a,
                                  const csr_pattern& b, int value_bytes) {
    const product_totals totals =
        find_product_totals(device, a, b, {limits_of_rows(), b.columns}, nullptr);
    spgemm_estimate e;
    e.products = static_cast<std::int64_t>(totals.products);
    e.most_nonzeros = static_cast<std::int64_t>(totals.most_results);
    e.result_bytes = 8 * (a.rows + 1) + (4 + value_bytes) * e.most_nonzeros;
    // Offsets, places, and six arrays of 4 bytes a row.
    e.extra_bytes = most_block_bytes(a, b) + 16 * (a.rows + 1) + 24 * a.rows +
                    static_cast<std::int64_t>(totals.placed + totals.many_placed) +
                    std::int64_t{symbolic_scratch_bytes} + 1024 + product_totals_bytes(a);
    const std::int64_t hashed =
        std::int64_t{totals.rows_of[static_cast<int>(count_class::hashed)]} + totals.of_many;
    if (hashed >= limits_of_rows().sampled_rows) // records, a list of 4 bytes a row, and marks
        e.extra_bytes +=
            hashed * (most_record_bytes / neighbour_limits::rows + 4) + most_record_bytes + a.rows;
    const std::int64_t giant = totals.rows_of[static_cast<int>(count_class::giant)];
    const std::int64_t wide = totals.rows_of[static_cast<int>(count_class::wide)];
    e.extra_bytes += static_cast<std::int64_t>(sizeof(sorted_row)) * (giant + wide);
    if (wide >= limits_of_rows().pooled_rows)
        e.extra_bytes += 4 * (std::min(e.most_nonzeros, most_pooled(a, b)) + a.rows);
    if (giant != 0) e.extra_bytes += (b.columns + 31) / 32 * 4 + scan_scratch_bytes;
    return e;
}

} // namespace krylith::cuda
