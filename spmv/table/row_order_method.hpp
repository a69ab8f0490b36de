// The row of an order of rows in the table of orders (spmv/table/row_orders.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <krylith/device/tables/required.hpp>
#include <krylith/device/tables/table_choice.hpp>

namespace krylith {

struct part_order;

struct row_order_method {
    static constexpr std::string_view what = "order";
    static constexpr std::string_view default_name = "none";

    required_text name;
    name_list aliases;  ///< what others call it, in lower case
    required_text help; ///< a clause, such as "brings coupled rows together"
    /// Whether this build and this machine have what it needs.
    required<bool (*)()> available;
    /// Orders the rows of a valid square CSR pattern for some number of devices. Without rows in
    /// the result each device gets rows of equal nonzeros.
    required<part_order (*)(std::span<const std::int64_t> row_offsets,
                            std::span<const std::int32_t> column_indices, int devices)>
        find;
};

/// The order in which the devices have rows and columns. The caller doesn't see it: vectors are
/// uploaded and downloaded, and values updated, in the caller's order.
using reordering = table_choice<row_order_method>;

} // namespace krylith
