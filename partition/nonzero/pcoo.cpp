#include <krylith/partition/nonzero/pcoo.hpp>

#include <string>

#include <krylith/device/error.hpp>

namespace krylith {

namespace {

using std::to_string;

void check_sizes(std::size_t rows, std::size_t columns, std::size_t values) {
    if (rows != columns)
        throw usage_error("pcoo: there are " + to_string(rows) + " row indices and " +
                          to_string(columns) + " column indices, must be as many");
    if (values != 0 && values != rows)
        throw usage_error("pcoo: there are " + to_string(values) + " values for " +
                          to_string(rows) + " row indices, must be as many or none");
}

} // namespace

const char* to_string(coo_order order) noexcept {
    switch (order) {
    case coo_order::by_rows: return "by rows";
    case coo_order::by_columns: return "by columns";
    default: return "unsorted";
    }
}

coo_order find_coo_order(std::span<const std::int32_t> row_indices,
                         std::span<const std::int32_t> column_indices) {
    check_sizes(row_indices.size(), column_indices.size(), 0);
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

template <class T>
pcoo<T> make_pcoo(std::int64_t rows, std::int64_t columns,
                  std::span<const std::int32_t> row_indices,
                  std::span<const std::int32_t> column_indices, std::span<const T> values,
                  const nonzero_partition& entries, coo_order order) {
    check_sizes(row_indices.size(), column_indices.size(), values.size());
    if (rows < 0 || columns < 0)
        throw usage_error("pcoo: the matrix has " + to_string(rows) + " rows and " +
                          to_string(columns) + " columns, must have 0 or more");
    pcoo<T> parts{rows, columns, order, {}, row_indices, column_indices, values};
    if (order == coo_order::by_rows)
        parts.major_ranges = make_sorted_major_ranges(rows, row_indices, entries);
    else if (order == coo_order::by_columns)
        parts.major_ranges = make_sorted_major_ranges(columns, column_indices, entries);
    else
        parts.major_ranges = make_unsorted_major_ranges(rows, row_indices, entries);
    return parts;
}

template <class T>
void check(const pcoo<T>& parts) {
    check_sizes(parts.row_indices.size(), parts.column_indices.size(), parts.values.size());
    if (parts.order == coo_order::by_rows)
        check_sorted(parts.major_ranges, parts.rows, parts.row_indices, "row");
    else if (parts.order == coo_order::by_columns)
        check_sorted(parts.major_ranges, parts.columns, parts.column_indices, "column");
    else
        check_unsorted(parts.major_ranges, parts.rows, parts.row_indices, "row");
}

template pcoo<double> make_pcoo(std::int64_t, std::int64_t, std::span<const std::int32_t>,
                                std::span<const std::int32_t>, std::span<const double>,
                                const nonzero_partition&, coo_order);
template pcoo<float> make_pcoo(std::int64_t, std::int64_t, std::span<const std::int32_t>,
                               std::span<const std::int32_t>, std::span<const float>,
                               const nonzero_partition&, coo_order);
template void check(const pcoo<double>&);
template void check(const pcoo<float>&);

} // namespace krylith
