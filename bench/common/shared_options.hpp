// Options that several benchmarks have, beside those of tools/cli/shared_options.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <krylith/bench/common/slope.hpp>
#include <krylith/tools/cli/device_selection.hpp>
#include <krylith/vector/execution.hpp>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace krylith::bench {

/// An option that takes values separated by commas.
template <class T>
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<T>& values,
                      const std::string& help);

/// Adds MATRIX...; `without` says what is measured where none is named.
void add_matrices(CLI::App& app, std::vector<std::string>& matrices, const std::string& without);

/// Adds backend and threads alone, without --transport.
void add_backend(CLI::App& app, tool::device_options& options);
void add_device_counts(CLI::App& app, std::vector<int>& counts,
                       const std::string& without = "1,2,4 ... all of them");
void add_effort(CLI::App& app, slope_effort& effort);
void add_execution(CLI::App& app, std::string& execution);
/// Adds --limit and --no-limits.
void add_limits(CLI::App& app, double& limit, bool& without);
void add_csv(CLI::App& app, std::string& path);

/// Returns the mode of one of tool::execution_names. Throws usage_error for another name.
[[nodiscard]] execution_mode execution_named(const std::string& name);

/// Throws for outputs that can't be written, are inputs or have the name of another format, as
/// tool::check_outputs() does. To be called before the work.
void check_files(const std::string& report, const std::string& csv,
                 const std::vector<std::string>& matrices,
                 const std::vector<std::string>& report_endings = {".json"});

} // namespace krylith::bench
