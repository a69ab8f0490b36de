// The formats in which a device can hold its block of a matrix: the table of formats.
//
// Another format is a folder beside sparse/csr/ with its row (sparse/table/format_method.hpp
// has the fields), and three lines here.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include <krylith/sparse/table/format_method.hpp>

namespace krylith {

/// The rows, each in the folder of its format.
namespace format_rows {
extern const format_method csr;
extern const format_method sell;
extern const format_method merge;
extern const format_method csr5;
extern const format_method cusparse;
} // namespace format_rows

/// What operator_options::format may be.
namespace formats {

/// CUDA: by the lengths of rows (sparse/selection/format_choice.hpp); host: csr.
inline constexpr format_kind automatic;
/// Compressed rows.
inline constexpr format_kind csr(format_rows::csr);
/// Slices of 32 rows, stored by columns.
inline constexpr format_kind sell(format_rows::sell);
/// csr by merge path: equal work for all blocks, whatever the lengths of rows.
inline constexpr format_kind merge(format_rows::merge);
/// Tiles of equal work for every lane of a warp.
inline constexpr format_kind csr5(format_rows::csr5);
/// cuSPARSE.
inline constexpr format_kind cusparse(format_rows::cusparse);

inline constexpr std::array all = {csr, sell, merge, csr5, cusparse};

} // namespace formats

/// Throws usage_error naming the nearest valid name.
[[nodiscard]] format_kind parse_format_kind(std::string_view name);
/// The names that parse_format_kind() accepts: auto, then the rows in the order of the table.
[[nodiscard]] std::span<const std::string_view> format_names();

} // namespace krylith
