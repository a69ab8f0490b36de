#include <krylith/partition/balance/partition_rows.hpp>

#include <numeric>
#include <string>

#include <krylith/device/error.hpp>
#include <krylith/partition/nodes/block_size.hpp>

namespace krylith {

namespace {

/// Up to this many rows a device, boundaries follow the nonzeros alone; above, they are rounded to
/// whole warps.
constexpr std::int64_t align_above = 4096;

std::int64_t alignment_of(std::int64_t rows, int devices, int block_size) {
    if (block_size < 1)
        throw usage_error("operator_options::block_size is " + std::to_string(block_size) +
                          "; must be at least 1");
    return std::lcm(row_alignment(rows, devices), std::int64_t{block_size});
}

} // namespace

std::int64_t row_alignment(std::int64_t rows, int devices) {
    return rows / devices > align_above ? 32 : 1;
}

row_partition partition_rows(std::int64_t rows, int devices, int block_size,
                             const std::function<std::int64_t(std::int64_t row)>& nonzeros_before) {
    return equal_nonzeros(rows, nonzeros_before, devices, alignment_of(rows, devices, block_size));
}

template <class T>
row_partition partition_rows(const csr_view<T>& matrix, int devices, int block_size) {
    if (block_size == 1 && devices > 1) block_size = find_block_size(matrix);
    const auto rows = static_cast<std::int64_t>(matrix.row_offsets.size()) - 1;
    return equal_nonzeros(matrix.row_offsets, devices, alignment_of(rows, devices, block_size));
}

#define KRYLITH_INSTANTIATE(T) template row_partition partition_rows(const csr_view<T>&, int, int);
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
