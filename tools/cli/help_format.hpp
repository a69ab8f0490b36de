// --help in two columns that fit a terminal.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace krylith::tool {

/// CLI11's own layout, but with defaults in brackets behind the description, and wrapped lines.
class help_format final : public CLI::Formatter {
public:
    [[nodiscard]] std::string make_option(const CLI::Option* option,
                                          bool is_positional) const override;
    [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;
};

} // namespace krylith::tool
