#include <krylith/tools/cli/command.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <omp.h>

#include <krylith/config.hpp>
#include <krylith/device/error.hpp>
#include <krylith/device/host/host_threads.hpp>
#include <krylith/device/messages/nearest_name.hpp>
#include <krylith/tools/cli/console.hpp>
#include <krylith/tools/cli/given_command.hpp>
#include <krylith/tools/cli/names.hpp>

namespace krylith::tool {

namespace {

constexpr const char* command_footer =
    R"(MATRIX is a file, - for standard input, or gallery:NAME[:ARGUMENT...]. A file is Matrix Market,
binary CSR (.kcsr, see krylith convert), SciPy's .npz, PETSc binary, Rutherford-Boeing or a dense
.npy, gzipped or not, and is known by its contents.

Exit status: 0 converged, 1 not converged, 2 usage, 3 bad input, 4 device failure,
5 communication failure.)";

constexpr std::size_t indent = 22;     ///< where descriptions begin
constexpr std::size_t line_width = 96; ///< where lines end

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
        if (column > indent && column + 1 + word.size() > line_width) {
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

/// CLI11's own layout in two columns that fit a terminal: defaults in brackets behind the
/// description, and wrapped lines.
class help_format final : public CLI::Formatter {
public:
    [[nodiscard]] std::string make_option(const CLI::Option* option,
                                          bool is_positional) const override {
        std::string name = option->get_name(is_positional, true);
        if (!option->get_type_name().empty()) name += ' ' + option->get_type_name();
        std::string description = option->get_description();
        if (!option->get_default_str().empty())
            description += " [" + option->get_default_str() + ']';
        return two_columns(name, description);
    }

    [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override {
        return two_columns(command->get_name(), command->get_description());
    }
};

bool looks_like_option(std::string_view argument) {
    return argument.size() > 1 && argument[0] == '-' && (argument[1] < '0' || argument[1] > '9') &&
           argument[1] != '.';
}

/// "krylith", "krylith bench cg".
std::string full_name(const CLI::App& app) {
    return app.get_parent() == nullptr ? "krylith"
                                       : full_name(*app.get_parent()) + " " + app.get_name();
}

/// CLI11 would only say that a subcommand is required.
void check_command_name(const CLI::App& app, std::span<char* const> arguments) {
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) return;
    const std::string what = app.get_parent() == nullptr ? "command" : "benchmark";
    const std::string place = "; " + full_name(app) + " --help ";
    if (arguments.empty()) throw usage_error("a " + what + " is missing" + place + "lists them");
    const std::string_view given = arguments.front();
    if (looks_like_option(given)) return;
    std::vector<std::string> names;
    for (const CLI::App* c : commands) names.push_back(c->get_name());
    const std::vector<std::string_view> valid(names.begin(), names.end());
    const auto found = std::ranges::find(valid, given);
    if (found == valid.end())
        throw usage_error("unknown " + what + " '" + std::string(given) + "'" +
                          name_advice(given, valid) + place + "explains them");
    check_command_name(*commands[static_cast<std::size_t>(found - valid.begin())],
                       arguments.subspan(1));
}

[[noreturn]] void refuse_option(const CLI::App& app, std::string_view given) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> valid(names.begin(), names.end());
    const std::string_view name = given.substr(0, given.find('='));
    const std::string command = full_name(app);
    const std::string nearest = nearest_name(name, valid, option_aliases);
    std::string advice = nearest.empty() ? "" : "did you mean '" + nearest + "'?";
    if (nearest.empty()) {
        advice = "allowed are";
        for (const std::string& option : names) advice += " " + option;
        advice += ";";
    }
    throw usage_error("unknown option '" + std::string(name) + "' of " + command + ": " + advice +
                      " " + command + " --help explains them");
}

/// CLI11 says "Could not convert: --rtol = x" and not what is allowed. What reads as a number here
/// was wanted whole, or smaller.
std::string conversion_in_words(const CLI::ConversionError& problem) {
    const std::string text = problem.what();
    const std::string_view said(text);
    constexpr std::string_view begin = "Could not convert: ";
    const std::size_t equals = said.find(" = ");
    if (!said.starts_with(begin) || equals == std::string_view::npos) return text;
    const std::string_view option = said.substr(begin.size(), equals - begin.size());
    const std::string value(said.substr(equals + 3));
    double number = 0;
    const auto [stop, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool reads = code == std::errc() && stop == value.data() + value.size();
    return std::string(option) + " is '" + value + "': allowed is a " +
           (reads ? "whole number that is not too large" : "number");
}

/// An argument that nothing takes says more than what CLI11 missed because of it.
[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& problem) {
    const CLI::App* deepest = &app;
    while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
    const CLI::App& command = *deepest;
    const std::vector<std::string> left_over = app.remaining(true);
    for (const std::string& argument : left_over)
        if (looks_like_option(argument)) refuse_option(command, argument);
    if (!left_over.empty())
        throw usage_error("unexpected argument '" + left_over.front() + "'; " + full_name(command) +
                          " --help shows what is allowed");
    const auto* conversion = dynamic_cast<const CLI::ConversionError*>(&problem);
    throw usage_error(
        (conversion != nullptr ? conversion_in_words(*conversion) : std::string(problem.what())) +
        "; " + full_name(command) + " --help has all options");
}

/// CLI11 takes what is beyond 64 bits for the largest number that they hold. Whole numbers are the
/// options whose type the help calls K or N.
void refuse_beyond_64_bits(CLI::App& app) {
    const auto fits = [](const std::string& given) {
        std::int64_t number = 0;
        const auto parsed = std::from_chars(given.data(), given.data() + given.size(), number);
        return parsed.ec == std::errc::result_out_of_range
                   ? given + " is too large: allowed are whole numbers of 64 bits"
                   : std::string();
    };
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        refuse_beyond_64_bits(*command);
        for (CLI::Option* option : command->get_options())
            if (option->get_type_name() == "K" || option->get_type_name() == "N")
                option->check(fits, "");
    }
}

/// Loops over matrices are OpenMP's with as many threads as it has by default, which
/// OMP_NUM_THREADS may say: its runtime ends the process where the system doesn't give them.
void bound_loops() {
    omp_set_num_threads(
        obtainable_threads(std::clamp(omp_get_max_threads(), 1, most_host_threads())));
}

} // namespace

exit_status status_of(const std::exception& failure) noexcept {
    if (dynamic_cast<const usage_error*>(&failure) != nullptr) return exit_status::usage;
    if (dynamic_cast<const input_error*>(&failure) != nullptr) return exit_status::bad_input;
    if (dynamic_cast<const communication_error*>(&failure) != nullptr)
        return exit_status::communication_failure;
    return exit_status::device_failure;
}

exit_status run_command_line(int argc, char** argv, std::span<const benchmark> known) {
    keep_command({argv + 1, argv + argc});
    CLI::App app("Krylov solvers for sparse linear systems on several devices of one machine.",
                 "krylith");
    app.set_version_flag("--version", "krylith " KRYLITH_VERSION);
    app.footer(command_footer);
    app.require_subcommand(1);
    app.formatter(std::make_shared<help_format>()); // before the subcommands, which inherit it
    const std::vector<command> commands = {
        add_solve(app),        add_spmv(app),      add_multiply(app), add_add(app),
        add_info(app),         add_recommend(app), add_convert(app),  add_devices(app),
        add_bench(app, known), add_gallery(app),   add_graph(app)};
    check_command_name(app, {argv + 1, argv + argc});
    refuse_beyond_64_bits(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& asked) { // --help, --version
        std::ostringstream answer;
        (void)app.exit(asked, answer, answer);
        print(stdout, answer.str());
        return exit_status::success;
    } catch (const CLI::ParseError& problem) {
        refuse(app, problem);
    }
    const auto parsed =
        std::ranges::find_if(commands, [](const command& c) { return c.options->parsed(); });
    bound_loops();
    return parsed->run();
}

} // namespace krylith::tool
