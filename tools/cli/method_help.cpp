#include <krylith/tools/cli/method_help.hpp>

#include <fmt/format.h>

#include <krylith/precond/table/preconditioner_table.hpp>
#include <krylith/solvers/solver_table.hpp>
#include <krylith/tools/cli/names.hpp>

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
    std::string text;
    for (const preconditioner_method* row : all_preconditioners) append(text, help_of(*row));
    return text;
}

std::vector<std::string_view> preconditioner_choices() {
    std::vector<std::string_view> names = preconditioner_names();
    names.insert(names.begin(), automatic_name);
    return names;
}

void check_preconditioner(std::string_view text) {
    std::vector<name_alias> aliases;
    for (const preconditioner_method* row : all_preconditioners)
        for (const std::string_view alias : row->aliases) aliases.push_back({alias, row->name});
    for (const std::string_view alias : {"identity", "no", "off"})
        aliases.push_back({alias, identity::name()});
    check_name("preconditioner", text.substr(0, text.find(':')), preconditioner_choices(), aliases);
}

} // namespace krylith::tool
