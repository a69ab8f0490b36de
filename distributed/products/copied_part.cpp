#include <krylith/distributed/products/copied_part.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/language/instances.hpp>
#include <krylith/distributed/products/numbered_columns.hpp>
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

/// Names the first entry whose column is not of the matrix.
template <class V>
[[noreturn]] void refuse_columns(device& device, const place_of_part& place, const V* given,
                                 const buffer<std::int64_t>& of_rows) {
    const std::vector<std::int64_t> offsets = of_rows.download();
    std::vector<V> columns;
    if (device.lies_elsewhere(given) == host_memory_name) {
        columns.assign(given, given + offsets.back());
    } else {
        columns.resize(as_size(offsets.back()));
        device.download(columns.data(), given, columns.size() * sizeof(V));
    }
    const auto bad = std::find_if(columns.begin(), columns.end(), [&](std::int64_t column) {
        return column < 0 || column >= place.columns;
    });
    const auto row =
        std::upper_bound(offsets.begin(), offsets.end(), bad - columns.begin()) - offsets.begin();
    throw input_error(name_of(place.rank) + "row " + std::to_string(place.first_row + row - 1) +
                      " has column " + (bad != columns.end() ? std::to_string(*bad) : "?") +
                      ": allowed are 0 to " + std::to_string(place.columns - 1));
}

/// Gives the copy the local numbers of its columns.
template <class T, class V>
void take_columns(const std::shared_ptr<device>& device, const place_of_part& place, const V* given,
                  copied_part<T>& copy) {
    const std::string name = name_of(place.rank);
    const auto count = static_cast<std::int64_t>(copy.columns.size());
    std::optional<local_columns> numbers;
    if (count != 0) check_readable(*device, name, given, "column_indices");
    if (place.columns > index_size_limit()) {
        numbers = number_columns(device, place.owned, place.columns, given, copy.columns);
    } else {
        if constexpr (std::is_same_v<V, std::int32_t>) {
            copy_array(device, given, name, "column_indices", copy.columns.data(),
                       copy.columns.size());
        } else {
            const read_there<V> from(device, given, copy.columns.size(), name, "column_indices");
            run_items(*device, narrow_columns{from.data(), copy.columns.data()}, count);
            device->synchronize(); // before the copy of given ones is freed
        }
        numbers = number_columns(device, place.owned, place.columns, copy.columns);
    }
    if (!numbers) refuse_columns(*device, place, given, copy.offsets);
    copy.numbers = *std::move(numbers);
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
copied_part<T> copy_part(const std::shared_ptr<device>& device, const place_of_part& place,
                         const csr_part<T>& part, part_values values) {
    copied_part<T> copy;
    copy.offsets = buffer<std::int64_t>(device, as_size(part.rows) + 1, matrix_item);
    std::int64_t nonzeros = 0;
    const std::string name = name_of(place.rank);
    if (part.rows == 0) {
        copy.offsets.zero();
    } else {
        const index_array& offsets = part.row_offsets;
        if (offsets.wide != nullptr)
            copy_offsets(device, offsets.wide, part.rows, name, copy.offsets);
        else
            copy_offsets(device, offsets.narrow, part.rows, name, copy.offsets);
        if (offsets_descend(device, copy.offsets))
            refuse_offsets(place.rank, copy.offsets, place.first_row);
        device->download(&nonzeros, copy.offsets.data() + part.rows, sizeof nonzeros);
    }
    copy.columns = buffer<std::int32_t>(device, as_size(nonzeros), matrix_item);
    if (part.column_indices.wide != nullptr)
        take_columns(device, place, part.column_indices.wide, copy);
    else
        take_columns(device, place, part.column_indices.narrow, copy);
    if (nonzeros == 0) return copy;
    if (values == part_values::borrowed) {
        check_pointer(*device, name, part.values, "values");
        return copy;
    }
    copy.values = buffer<T>(device, as_size(nonzeros), matrix_item);
    copy_array(device, part.values, name, "values", copy.values.data(), copy.values.size());
    device->synchronize(); // the caller may free them
    return copy;
}

#define KRYLITH_INSTANTIATE(T) template struct instances<copy_part<T>>;
#include <krylith/device/language/instantiate.inc>

} // namespace krylith
