#include <krylith/tools/report/report_fields.hpp>

#include <array>
#include <krylith/tools/cli/quantities.hpp>
#include <krylith/tools/cli/report_schema.hpp>

#include <fmt/format.h>

namespace krylith::tool {

namespace {

// A field that reports get later is one line here; all others are listed at the end of the page.
constexpr std::array outcome_table = {
    report_field{"matrix", "/matrix/name"},
    report_field{"rows", "/matrix/rows"},
    report_field{"nonzeros", "/matrix/nnz"},
    report_field{"solver", "/solver"},
    report_field{"chosen because", "/solver_because"},
    report_field{"preconditioner", "/preconditioner"},
    report_field{"precision", "/precision"},
    report_field{"devices", "/devices"},
    report_field{"operator", "/operator"},
    report_field{"operator chosen because", "/operator_because"},
    report_field{"format", "/format"},
    report_field{"narrow values, fraction", "/narrow_fraction"},
    report_field{"transport", "/transport"},
    report_field{"outcome", "/reason"},
    report_field{"iterations", "/iterations"},
    report_field{"||b - A x|| / ||b||", "/relative_true_residual", field_kind::scientific},
    report_field{"||b||", "/rhs_norm", field_kind::scientific},
    report_field{"largest error of x", "/solution_error", field_kind::scientific},
    report_field{"condition number, about", "/condition_estimate", field_kind::scientific},
    report_field{"an iteration", "/seconds_per_iteration", field_kind::seconds},
    report_field{"bytes an iteration", "/bytes_per_iteration", field_kind::bytes},
    report_field{"GB/s by the byte model", "/gigabytes_per_second"},
};

constexpr std::array phase_table = {
    report_field{"load", "/load_seconds", field_kind::seconds},
    report_field{"setup", "/setup_seconds", field_kind::seconds},
    report_field{"transfer", "/transfer_seconds", field_kind::seconds},
    report_field{"solve", "/solve_seconds", field_kind::seconds},
};

const json* find(const json& report, const char* pointer) {
    const json::json_pointer place(pointer);
    return report.contains(place) ? &report.at(place) : nullptr;
}

std::string number_in_words(const json& value, field_kind kind) {
    const auto number = value.get<double>();
    switch (kind) {
    case field_kind::seconds: return in_seconds(number);
    case field_kind::bytes: return in_bytes(number);
    case field_kind::scientific: return fmt::format("{:.3e}", number);
    case field_kind::plain: break;
    }
    return value.is_number_float() ? fmt::format("{:.4g}", number) : value.dump();
}

} // namespace

std::span<const report_field> outcome_fields() {
    return outcome_table;
}

std::span<const report_field> phase_fields() {
    return phase_table;
}

std::optional<std::string> in_words(const json& report, const report_field& field) {
    const json* const value = find(report, field.pointer);
    return value == nullptr ? std::nullopt : in_words(*value, field.kind);
}

std::optional<std::string> in_words(const json& value, field_kind kind) {
    if (value.is_null()) return std::nullopt;
    if (value.is_number()) return number_in_words(value, kind);
    if (value.is_array()) {
        std::string list;
        for (const json& item : value)
            list += (list.empty() ? "" : "; ") + in_words(item, kind).value_or("-");
        return list.empty() ? std::nullopt : std::optional(list);
    }
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<double> number_at(const json& report, const char* pointer) {
    const json* const value = find(report, pointer);
    return value != nullptr && value->is_number() ? std::optional(value->get<double>())
                                                  : std::nullopt;
}

std::string text_at(const json& report, const char* pointer) {
    const json* const value = find(report, pointer);
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

} // namespace krylith::tool
