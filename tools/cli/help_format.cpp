#include <krylith/tools/cli/help_format.hpp>

#include <sstream>

namespace krylith::tool {

namespace {

constexpr std::size_t indent = 22; ///< where descriptions begin
constexpr std::size_t width = 96;  ///< where lines end

std::string two_columns(const std::string& name, const std::string& description) {
    std::string text = "  " + name;
    std::size_t column = text.size();
    if (column + 2 > indent) {
        text += '\n';
        column = 0;
    }
    text.append(indent - column, ' ');
    column = indent;
    std::istringstream words(description);
    for (std::string word; words >> word;) {
        if (column > indent && column + 1 + word.size() > width) {
            text += '\n' + std::string(indent, ' ');
            column = indent;
        }
        if (column > indent) {
            text += ' ';
            ++column;
        }
        text += word;
        column += word.size();
    }
    return text + '\n';
}

} // namespace

std::string help_format::make_option(const CLI::Option* option, bool is_positional) const {
    std::string name = option->get_name(is_positional, true);
    if (!option->get_type_name().empty()) name += ' ' + option->get_type_name();
    std::string description = option->get_description();
    if (!option->get_default_str().empty()) description += " [" + option->get_default_str() + ']';
    return two_columns(name, description);
}

std::string help_format::make_subcommand(const CLI::App* command) const {
    return two_columns(command->get_name(), command->get_description());
}

} // namespace krylith::tool
