#include <krylith/tools/cli/method_help.hpp>

#include <fmt/format.h>

#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>

namespace krylith::tool {

namespace {

void append(std::string& text, const std::string& clause) {
    if (!text.empty()) text += "; ";
    text += clause;
}

std::string help_of(const preconditioner_method& row) {
    std::string form(row.name);
    std::string meanings;
    for (const parameter_rule& rule : row.parameters.get()) {
        form += fmt::format("[:{}=...]", rule.key());
        meanings += fmt::format("{}{}: {}, {} [{}]", meanings.empty() ? " (" : "; ", rule.key(),
                                rule.help(), rule.allowed(), rule.usual());
    }
    if (!meanings.empty()) meanings += ")";
    return fmt::format("{} {}{}", form, std::string_view(row.help), meanings);
}

} // namespace

std::string solver_help() {
    std::string text = fmt::format("{} {}", std::string_view(solver_rows::automatic.name),
                                   std::string_view(solver_rows::automatic.help));
    for (const solver_method* row : all_solvers)
        append(text,
               fmt::format("{} {}", std::string_view(row->name), std::string_view(row->help)));
    return text;
}

std::string preconditioner_help() {
    std::string text = fmt::format("{0} is chosen by solver {0}, and none with others",
                                   std::string_view(solver_rows::automatic.name));
    for (const preconditioner_method* row : all_preconditioners) append(text, help_of(*row));
    return text;
}

} // namespace krylith::tool
