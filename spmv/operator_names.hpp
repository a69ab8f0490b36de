// The names that parse_operator_kind() and its like accept, for lists of choices.
#pragma once

#include <span>
#include <string_view>

namespace krylith {

/// Each in the order of its enumerators in matrix_operator.hpp: operator_kind, local_kind,
/// transfer_kind, reordering.
[[nodiscard]] std::span<const std::string_view> operator_names() noexcept;
[[nodiscard]] std::span<const std::string_view> local_names() noexcept;
[[nodiscard]] std::span<const std::string_view> transfer_names() noexcept;
[[nodiscard]] std::span<const std::string_view> order_names() noexcept;

} // namespace krylith
