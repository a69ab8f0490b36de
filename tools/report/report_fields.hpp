// The fields of a report that the page shows: a table of their places and how they read.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

namespace krylith::tool {

/// How a value reads.
enum class field_kind : unsigned char { plain, seconds, bytes, scientific };

struct report_field {
    const char* name;    ///< on the page
    const char* pointer; ///< "/matrix/rows" (RFC 6901)
    field_kind kind = field_kind::plain;
};

/// What was solved, on what, and how it ended.
[[nodiscard]] std::span<const report_field> outcome_fields();
/// Where the time went: each a phase.
[[nodiscard]] std::span<const report_field> phase_fields();

/// The value of a field in words; nothing where the report lacks it, or it is null or empty.
[[nodiscard]] std::optional<std::string> in_words(const nlohmann::ordered_json& report,
                                                  const report_field& field);

/// A value in words; nothing where it is null or empty.
[[nodiscard]] std::optional<std::string> in_words(const nlohmann::ordered_json& value,
                                                  field_kind kind);

/// A number of the report; nothing where there is none.
[[nodiscard]] std::optional<double> number_at(const nlohmann::ordered_json& report,
                                              const char* pointer);
/// A text of the report; empty where there is none.
[[nodiscard]] std::string text_at(const nlohmann::ordered_json& report, const char* pointer);

} // namespace krylith::tool
