#include <krylith/distributed/products/copied_part.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/pointer_check.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/pattern/block_lengths.hpp>

namespace krylith {

namespace {

std::string name_of(int rank) {
    return "distributed_csr: part " + std::to_string(rank) + ": ";
}

/// Reads an offset of either width.
std::int64_t offset_at(device& device, const offset_array& offsets, std::int64_t row) {
    if (offsets.wide != nullptr) {
        std::int64_t wide = 0;
        device.download(&wide, offsets.wide + row, sizeof wide);
        return wide;
    }
    std::int32_t narrow = 0;
    device.download(&narrow, offsets.narrow + row, sizeof narrow);
    return narrow;
}

[[noreturn]] void refuse_offsets(int rank, const buffer<std::int64_t>& offsets,
                                 std::int64_t first_row) {
    const std::vector<std::int64_t> all = offsets.download();
    std::size_t row = 0;
    while (row + 2 < all.size() && all[row] <= all[row + 1]) ++row;
    throw input_error(name_of(rank) + "row " +
                      std::to_string(first_row + static_cast<std::int64_t>(row)) + " starts at " +
                      std::to_string(all[row]) + " and ends at " + std::to_string(all[row + 1]) +
                      ": allowed are row_offsets that don't descend");
}

} // namespace

bool offsets_descend(const std::shared_ptr<device>& device, const buffer<std::int64_t>& offsets) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
#if KRYLITH_HAVE_CUDA
    if (device->kind() == backend::cuda)
        return cuda::measure_lengths(device, offsets.data(), rows).descends;
#endif
    device->synchronize();
    return !std::is_sorted(offsets.data(), offsets.data() + rows + 1);
}

template <class T>
copied_part<T> copy_part(const std::shared_ptr<device>& device, int rank, const csr_part<T>& part,
                         std::int64_t first_row, part_values values) {
    copied_part<T> copy;
    copy.offsets = buffer<std::int64_t>(device, as_size(part.rows) + 1, matrix_item);
    if (part.rows == 0) {
        copy.offsets.zero();
        return copy;
    }
    const offset_array& from = part.row_offsets;
    check_pointer(*device, name_of(rank),
                  from.wide != nullptr ? static_cast<const void*>(from.wide) : from.narrow,
                  "row_offsets");
    const std::int64_t first = offset_at(*device, from, 0);
    if (from.wide != nullptr)
        run_items(*device, shift_offsets<std::int64_t>{from.wide, -first, copy.offsets.data()},
                  part.rows + 1);
    else
        run_items(*device, shift_offsets<std::int32_t>{from.narrow, -first, copy.offsets.data()},
                  part.rows + 1);
    if (offsets_descend(device, copy.offsets)) refuse_offsets(rank, copy.offsets, first_row);
    const std::size_t nonzeros = as_size(offset_at(*device, from, part.rows) - first);
    if (nonzeros == 0) return copy;
    check_pointer(*device, name_of(rank), part.column_indices, "column_indices");
    check_pointer(*device, name_of(rank), part.values, "values");
    copy.columns = buffer<std::int32_t>(device, nonzeros, matrix_item);
    device->copy(copy.columns.data(), part.column_indices, nonzeros * sizeof(std::int32_t));
    if (values == part_values::borrowed) return copy;
    copy.values = buffer<T>(device, nonzeros, matrix_item);
    device->copy(copy.values.data(), part.values, nonzeros * sizeof(T));
    return copy;
}

template <class T>
void refuse_columns(int rank, const copied_part<T>& part, std::int64_t first_row,
                    std::int64_t all) {
    const std::vector<std::int64_t> offsets = part.offsets.download();
    const std::vector<std::int32_t> columns = part.columns.download();
    const auto bad = std::find_if(columns.begin(), columns.end(), [all](std::int64_t column) {
        return column < 0 || column >= all;
    });
    const auto row = std::upper_bound(offsets.begin(), offsets.end(), bad - columns.begin()) -
                     offsets.begin() - 1;
    throw input_error(name_of(rank) + "row " + std::to_string(first_row + row) + " has column " +
                      (bad == columns.end() ? "?" : std::to_string(*bad)) + ": allowed are 0 to " +
                      std::to_string(all - 1));
}

#define KRYLITH_INSTANTIATE(T) template struct instances<copy_part<T>, refuse_columns<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
