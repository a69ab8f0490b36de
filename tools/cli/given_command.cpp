#include <krylith/tools/cli/given_command.hpp>

#include <krylith/tools/cli/printable.hpp>

namespace krylith::tool {

namespace {

std::string& kept() {
    static std::string command = "krylith";
    return command;
}

} // namespace

void keep_command(std::span<char* const> arguments) {
    kept() = "krylith";
    for (const char* argument : arguments) kept() += " " + quoted(argument);
}

const std::string& given_command() {
    return kept();
}

} // namespace krylith::tool
