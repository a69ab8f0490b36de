#include <krylith/distributed/products/numbered_columns.hpp>

#include <utility>

#include <krylith/distributed/products/product_kernels.hpp>

namespace krylith {

std::optional<local_columns> number_columns(const std::shared_ptr<device>& device, row_range owned,
                                            std::int64_t all, const buffer<std::int32_t>& columns) {
    const auto count = static_cast<std::int64_t>(columns.size());
    outer_columns outer = find_outer_columns(device, columns.data(), count, owned, all);
    if (!outer.valid) return std::nullopt;
    local_columns result = outer.resident.size() != 0
                               ? local_columns(owned, outer.ghosts, std::move(outer.resident))
                               : local_columns(device, owned, outer.ghosts);
    if (owned.size() != all)
        run_items(*device, number_locally{result.numbers(), columns.data()}, count);
    return result;
}

} // namespace krylith
