#include <krylith/partition/ordering/metis_order.hpp>
#include <krylith/spmv/table/row_orders.hpp>

namespace krylith {

namespace {

part_order by_levels(std::span<const std::int64_t> row_offsets,
                     std::span<const std::int32_t> column_indices, int /*devices*/) {
    return {reverse_cuthill_mckee(row_offsets, column_indices), {}};
}

} // namespace

constinit const row_order_method order_rows::rcm = {
    .name = "rcm",
    .aliases = {"cuthillmckee"},
    .help = "reverse Cuthill-McKee, brings together what is coupled",
    .available = [] { return true; },
    .find = by_levels,
};

constinit const row_order_method order_rows::metis = {
    .name = "metis",
    .aliases = name_list::none(),
    .help = "makes a part for each device with few ghosts",
    .available = metis_available,
    .find = metis_order,
};

std::span<const std::string_view> order_names() {
    static const auto names = names_of<row_order_method>(orders::all);
    return names;
}

reordering parse_reordering(std::string_view name) {
    return parse_choice<row_order_method>(name, orders::all);
}

} // namespace krylith
