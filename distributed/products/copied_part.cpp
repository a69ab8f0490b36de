#include <krylith/distributed/products/copied_part.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/products/product_kernels.hpp>
#include <krylith/distributed/source/memory_items.hpp>
#include <krylith/distributed/source/pointer_check.hpp>
#include <krylith/distributed/source/read_there.hpp>
#include <krylith/matrix/types/index_width.hpp>
#include <krylith/sparse/pattern/block_lengths.hpp>

namespace krylith {

namespace {

std::string name_of(int rank) {
    return "distributed_csr: part " + std::to_string(rank) + ": ";
}

/// Enqueues the offsets of a part, from 0.
template <class Offset>
void copy_offsets(const std::shared_ptr<device>& device, const Offset* given, std::int64_t rows,
                  const std::string& part, buffer<std::int64_t>& to) {
    const read_there<Offset> from(device, given, as_size(rows) + 1, part, "row_offsets");
    Offset first{};
    device->download(&first, from.data(), sizeof first);
    run_items(*device, shift_offsets<Offset>{from.data(), -std::int64_t{first}, to.data()},
              rows + 1);
}

/// Copies to the device, from there or from the host.
template <class V>
void copy_array(const std::shared_ptr<device>& device, const V* given, const std::string& part,
                const char* name, V* to, std::size_t count) {
    if (count == 0) return;
    if (given != nullptr && device->lies_elsewhere(given) == host_memory_name)
        return device->upload(to, given, count * sizeof(V));
    check_pointer(*device, part, given, name);
    device->copy(to, given, count * sizeof(V));
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
    const std::string name = name_of(rank);
    const index_array& offsets = part.row_offsets;
    if (offsets.wide != nullptr)
        copy_offsets(device, offsets.wide, part.rows, name, copy.offsets);
    else
        copy_offsets(device, offsets.narrow, part.rows, name, copy.offsets);
    if (offsets_descend(device, copy.offsets)) refuse_offsets(rank, copy.offsets, first_row);
    std::int64_t nonzeros = 0;
    device->download(&nonzeros, copy.offsets.data() + part.rows, sizeof nonzeros);
    if (nonzeros == 0) return copy;
    const index_array& columns = part.column_indices;
    copy.columns = buffer<std::int32_t>(device, as_size(nonzeros), matrix_item);
    if (columns.wide != nullptr) {
        const read_there<std::int64_t> from(device, columns.wide, as_size(nonzeros), name,
                                            "column_indices");
        run_items(*device, narrow_columns{from.data(), copy.columns.data()}, nonzeros);
    } else {
        copy_array(device, columns.narrow, name, "column_indices", copy.columns.data(),
                   copy.columns.size());
    }
    if (values == part_values::borrowed) {
        check_pointer(*device, name, part.values, "values");
        return copy;
    }
    copy.values = buffer<T>(device, as_size(nonzeros), matrix_item);
    copy_array(device, part.values, name, "values", copy.values.data(), copy.values.size());
    return copy;
}

template <class T>
void refuse_columns(const std::shared_ptr<device>& device, int rank, const csr_part<T>& part,
                    const copied_part<T>& copy, std::int64_t first_row, std::int64_t all) {
    const std::vector<std::int64_t> offsets = copy.offsets.download();
    const std::vector<std::int32_t> columns = copy.columns.download();
    const auto bad = std::find_if(columns.begin(), columns.end(), [all](std::int64_t column) {
        return column < 0 || column >= all;
    });
    const auto at = bad - columns.begin();
    const auto row = std::upper_bound(offsets.begin(), offsets.end(), at) - offsets.begin() - 1;
    std::string found = "?";
    if (bad != columns.end()) {
        found = std::to_string(*bad);
        if (part.column_indices.wide != nullptr) {
            const read_there<std::int64_t> given(device, part.column_indices.wide, columns.size(),
                                                 name_of(rank), "column_indices");
            std::int64_t wide = 0;
            device->download(&wide, given.data() + at, sizeof wide);
            found = std::to_string(wide);
        }
    }
    throw input_error(name_of(rank) + "row " + std::to_string(first_row + row) + " has column " +
                      found + ": allowed are 0 to " + std::to_string(all - 1));
}

#define KRYLITH_INSTANTIATE(T) template struct instances<copy_part<T>, refuse_columns<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
