// What an operator was made of, for people and for programs: a new order of rows, the fractions of
// rows that lra and lra-rc were tuned to, and how values are stored.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <krylith/spmv/fractions/fraction_search.hpp>
#include <krylith/spmv/matrix_operator.hpp>

namespace krylith::tool {

/// "rcm in 12 ms: bandwidth 81123 -> 310, ghosts 20112 -> 933"; not for order none.
[[nodiscard]] std::string in_words(const reordering_report& report);

/// The same by name; null for order none.
[[nodiscard]] nlohmann::ordered_json as_json(const reordering_report& report);

/// "sell (97% of the values narrow)"; the name alone where none are.
[[nodiscard]] std::string format_in_words(const std::string& name, double narrow_fraction);

/// Best point, the rule's and its loss, all points tried and where it is from; null for nothing.
[[nodiscard]] nlohmann::ordered_json as_json(const std::optional<fraction_choice>& choice);

} // namespace krylith::tool
