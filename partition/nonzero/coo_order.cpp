#include <krylith/partition/nonzero/coo_order.hpp>

#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

const char* to_string(coo_order order) noexcept {
    switch (order) {
    case coo_order::by_rows: return "by rows";
    case coo_order::by_columns: return "by columns";
    default: return "unsorted";
    }
}

coo_order find_coo_order(std::span<const std::int32_t> row_indices,
                         std::span<const std::int32_t> column_indices) {
    if (row_indices.size() != column_indices.size())
        throw usage_error("find_coo_order: there are " + std::to_string(row_indices.size()) +
                          " row indices and " + std::to_string(column_indices.size()) +
                          " column indices, must be as many");
    const auto entries = static_cast<std::int64_t>(row_indices.size());
    const std::int32_t* const rows = row_indices.data();
    const std::int32_t* const columns = column_indices.data();
    constexpr std::int64_t worth_a_team = 1 << 15;
    // Counted, without a branch, so that it runs at the rate of the memory.
    std::int64_t down = 0;
    std::int64_t left = 0;
#pragma omp parallel for schedule(static) reduction(+ : down, left) if (entries > worth_a_team)
    for (std::int64_t k = 1; k < entries; ++k) {
        down += rows[k] < rows[k - 1] ? 1 : 0;
        left += columns[k] < columns[k - 1] ? 1 : 0;
    }
    if (down == 0) return coo_order::by_rows;
    return left == 0 ? coo_order::by_columns : coo_order::unsorted;
}

} // namespace krylith
