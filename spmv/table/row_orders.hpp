// The orders in which the devices have rows and columns: the table of orders.
//
// Another order is its row (spmv/table/row_order_method.hpp has the fields), and three lines
// here.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <krylith/spmv/table/row_order_method.hpp>

namespace krylith {

/// The rows (spmv/building/row_order_rows.cpp).
namespace order_rows {
extern const row_order_method rcm;
extern const row_order_method metis;
} // namespace order_rows

/// What operator_options::order may be.
namespace orders {

/// The caller's.
inline constexpr reordering none;
/// Reverse Cuthill-McKee: coupled rows lie together (partition/ordering/reordering.hpp).
inline constexpr reordering rcm(order_rows::rcm);
/// A part for each device with few ghosts, and rcm within (partition/ordering/metis_order.hpp).
inline constexpr reordering metis(order_rows::metis);

inline constexpr std::array all = {rcm, metis};

} // namespace orders

/// Throws usage_error naming the nearest valid name.
[[nodiscard]] reordering parse_reordering(std::string_view name);
/// The names that parse_reordering() accepts: none, then the rows in the order of the table.
[[nodiscard]] std::span<const std::string_view> order_names();

} // namespace krylith
