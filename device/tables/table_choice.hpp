// A choice among the rows of a table of methods, and their names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <krylith/device/error.hpp>
#include <krylith/device/messages/nearest_name.hpp>

namespace krylith {

/// A row of a table, or the default, which is no row: what krylith chooses itself, or nothing. A
/// value of the size of a pointer. A Row has `name` and `aliases`, and static members
/// `what` ("operator") and `default_name` ("auto").
template <class Row>
class table_choice {
public:
    constexpr table_choice() noexcept = default;
    constexpr explicit table_choice(const Row& row) noexcept : row_(&row) {}

    /// Whether it is a row, and not the default.
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return row_ != nullptr; }
    /// Throws usage_error for the default.
    [[nodiscard]] constexpr const Row* operator->() const {
        if (row_ == nullptr)
            throw usage_error(std::string(Row::what) + " " + std::string(Row::default_name) +
                              " has no row in the table, allowed are those that are listed there");
        return row_;
    }
    [[nodiscard]] friend constexpr bool operator==(table_choice, table_choice) noexcept = default;

private:
    template <class R>
    friend const char* to_string(table_choice<R> choice) noexcept;

    const Row* row_ = nullptr;
};

template <class Row>
[[nodiscard]] const char* to_string(table_choice<Row> choice) noexcept {
    return choice ? choice.row_->name.data() : Row::default_name.data();
}

/// Returns the name of the default, then those of the rows in their order.
template <class Row>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const table_choice<Row>> rows) {
    std::vector<std::string_view> names = {Row::default_name};
    for (const table_choice<Row> row : rows) names.emplace_back(to_string(row));
    return names;
}

/// Returns the choice that has this name. Throws usage_error that says what kind of name it is, the
/// nearest valid one, which may be the row that has it as an alias, and all valid ones.
template <class Row>
[[nodiscard]] table_choice<Row> parse_choice(std::string_view name,
                                             std::span<const table_choice<Row>> rows) {
    if (name == Row::default_name) return {};
    std::vector<name_alias> aliases;
    for (const table_choice<Row> row : rows) {
        if (name == row->name) return row;
        for (const std::string_view alias : row->aliases) aliases.push_back({alias, row->name});
    }
    throw usage_error("unknown " + std::string(Row::what) + " '" + std::string(name) + "'" +
                      name_advice(name, names_of(rows), aliases));
}

/// "nz, 2nz, lra and lra-rc": the names of the rows for which wanted(row) is true, for messages.
template <class Row, class Wanted>
[[nodiscard]] std::string listed(std::span<const table_choice<Row>> rows, Wanted wanted) {
    std::vector<std::string_view> names;
    for (const table_choice<Row> row : rows)
        if (wanted(row)) names.emplace_back(to_string(row));
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
        text += names[i];
    }
    return text;
}

} // namespace krylith
