// The parameters that incomplete factorisations share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <krylith/precond/incomplete/elimination_order.hpp>
#include <krylith/precond/table/preconditioner_method.hpp>

namespace krylith::incomplete {

inline constexpr double most_shift = 1e6;
inline constexpr std::string_view orders[] = {"auto", "natural", "colours"};

inline constexpr parameter_rule order_rule =
    parameter_rule::word("order", orders, "of elimination; auto by levels");
inline constexpr parameter_rule shift_rule = parameter_rule::real(
    "shift", 0, 0, most_shift, "times a row's largest magnitude is added to its diagonal");
/// The most rings of rows that blocks add to their own.
inline constexpr int most_overlap = 100;
inline constexpr parameter_rule overlap_rule = parameter_rule::whole(
    "overlap", 0, 0, most_overlap, "rings of rows that a block of several devices adds");

/// Returns the shift. Throws usage_error where it is out of range.
[[nodiscard]] double checked_shift(const std::string& who, double shift);
[[nodiscard]] elimination_order order_of(const method_parameters& parameters);
[[nodiscard]] double shift_of(const method_parameters& parameters);
/// The same for rings of rows.
[[nodiscard]] int checked_overlap(const std::string& who, int overlap);
[[nodiscard]] int overlap_of(const method_parameters& parameters);
[[nodiscard]] std::string name_of_factors(const std::string& who, elimination_order order,
                                          double shift);
/// Of both solves and the pass that writes z, without what gathers across colours waste.
[[nodiscard]] std::optional<double> moved_by_factors(const preconditioner_size& size,
                                                     const method_parameters& parameters);

} // namespace krylith::incomplete
