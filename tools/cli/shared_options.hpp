// Options that several subcommands have.
#pragma once

#include <optional>
#include <string>

#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/tools/cli/operator_request.hpp>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace krylith::tool {

/// `name`: of the argument.
void add_matrix(CLI::App& app, std::string& matrix, const std::string& name = "MATRIX");
void add_spd(CLI::App& app, bool& spd);
void add_device_options(CLI::App& app, device_options& options);
/// Backend, threads and transport only, where a command counts devices itself.
void add_backend_options(CLI::App& app, device_options& options);
/// How long devices wait for each other, where a command makes them.
void add_timeout(CLI::App& app, device_options& options);
void add_operator_options(CLI::App& app, operator_request& request);
/// Lets --transport, which is there, take those of replicated operators too.
void add_transports(CLI::App& app, operator_request& request);
/// Shows the defaults of both precisions, or of fp64 where there is no other.
void add_rtol(CLI::App& app, std::optional<double>& rtol, bool fp64_only = false);
/// "WHAT as a Matrix Market array; .npy, .petsc or .txt as its name says".
[[nodiscard]] std::string vector_output_help(const std::string& what);
void add_report(CLI::App& app, std::string& report);

} // namespace krylith::tool
